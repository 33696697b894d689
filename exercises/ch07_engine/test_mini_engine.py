"""Grades mini_engine.py."""

import numpy as np

from exercises.grading import Mismatch, close, equal, holds, points
from teachtorch.datasets.digits import split_digits


def leaf(yours, *rows):
    """A leaf that requires a gradient."""
    return yours.Tensor(np.array(rows, dtype=float), requires_grad=True)


def total(yours, tensor):
    """The sum of all elements of a matrix, by two products with ones."""
    rows, columns = tensor.data.shape
    ones = yours.Tensor(np.ones((1, rows))), yours.Tensor(np.ones((columns, 1)))
    return yours.matmul(yours.matmul(ones[0], tensor), ones[1])


def gradient(leaf):
    """The .grad of a leaf."""
    return leaf.grad


@points(1, "the values of the operations")
def test_values(yours):
    a, b = yours.Tensor([[1.0, -2.0], [3.0, 4.0]]), yours.Tensor([[10.0, 20.0]])
    close(yours.add(a, b).data, np.array([[11.0, 18.0], [13.0, 24.0]]), "b is broadcast")
    close(yours.matmul(a, a).data, np.array([[-5.0, -10.0], [15.0, 10.0]]), "a matrix product")
    close(yours.relu(a).data, np.array([[1.0, 0.0], [3.0, 4.0]]), "negative numbers become 0")
    loss = yours.cross_entropy(yours.Tensor([[0.0, 0.0], [1000.0, 0.0]]), np.array([1, 0])).data
    close(np.array(loss), np.array(np.log(2) / 2), "log 2 and 0, on average; exp(1000) must not be needed")


@points(1, "the gradient of a sum with a broadcast operand")
def test_broadcast(yours):
    a, b = leaf(yours, [1.0, 2.0], [3.0, 4.0], [5.0, 6.0]), leaf(yours, [10.0, 20.0])
    yours.backward(total(yours, yours.add(a, b)))
    close(gradient(a), np.ones((3, 2)), "each element counts once", what="the gradient of a in sum(a + b)")
    close(
        gradient(b),
        np.array([[3.0, 3.0]]),
        "b was used in three rows: their gradients are summed",
        what="the gradient of b in sum(a + b), b of shape (1, 2)",
    )


@points(1, "the gradient of a matrix product")
def test_matmul(yours):
    a, b = leaf(yours, [1.0, 2.0], [3.0, 4.0]), leaf(yours, [5.0], [6.0])
    yours.backward(total(yours, yours.matmul(a, b)))
    close(
        gradient(a), np.array([[5.0, 6.0], [5.0, 6.0]]), "grad @ b.T", what="the gradient of a in sum(a @ b)"
    )
    close(gradient(b), np.array([[4.0], [6.0]]), "a.T @ grad", what="the gradient of b in sum(a @ b)")


@points(1, "the gradients of relu and cross_entropy")
def test_losses(yours):
    a = leaf(yours, [1.0, -2.0])
    yours.backward(total(yours, yours.relu(a)))
    close(
        gradient(a),
        np.array([[1.0, 0.0]]),
        "0 where a was negative",
        what="the gradient of sum(relu([1, -2]))",
    )
    scores = leaf(yours, [0.0, np.log(3.0)], [0.0, 0.0])
    yours.backward(yours.cross_entropy(scores, np.array([0, 1])))
    expected = np.array([[0.25 - 1, 0.75], [0.5, 0.5 - 1]]) / 2
    why = "probability minus 1 at the label, divided by the number of rows"
    close(gradient(scores), expected, why, what="the gradient of cross_entropy")


@points(1, "a diamond: each node once, gradients summed")
def test_diamond(yours):
    a = leaf(yours, [1.0])
    doubled = yours.add(a, a)
    runs = watch(doubled.node)
    out = yours.add(yours.relu(doubled), yours.matmul(doubled, yours.Tensor([[5.0]])))
    yours.backward(out)
    why = "2a through relu (1) and through the product (5): 6 in all, times 2"
    close(gradient(a), np.array([[12.0]]), why, what="the gradient of a in relu(a + a) + (a + a) * 5")
    equal(len(runs), 1, "a node waits for all its gradients", what="how often the node of a + a ran")


def watch(node):
    """Count the runs of a node."""
    runs, formula = [], node.formula

    def counted(grad):
        runs.append(grad)
        if len(runs) > 100:
            raise Mismatch("a node ran 100 times: once for each path that leads to it")
        return formula(grad)

    node.formula = counted
    return runs


@points(1, "a long chain")
def test_long(yours):
    a = x = leaf(yours, [1.0])
    one = yours.Tensor([[1.0]])
    for _ in range(5000):
        x = yours.add(x, one)
    yours.backward(x)
    close(gradient(a), np.array([[1.0]]), "5000 additions", what="the gradient at the end of a chain")


@points(1, "gradients accumulate, and belong to the leaf")
def test_accumulates(yours):
    a, b = leaf(yours, [1.0, 2.0]), leaf(yours, [3.0, 4.0])
    for _ in range(2):
        yours.backward(total(yours, yours.add(a, b)))
    why = "the second backward adds to what is there"
    close(gradient(a), np.array([[2.0, 2.0]]), why, what="the gradient of a after two backwards")
    came = np.array([[1.0, 1.0]])
    c = leaf(yours, [0.0, 0.0])
    yours.accumulate(c, came)
    came[...] = 99
    close(
        gradient(c),
        np.array([[1.0, 1.0]]),
        "it must be a copy: others go on using the array that came",
        what="c.grad",
    )


@points(1, "what needs no gradient gets none")
def test_constants(yours):
    a, x = leaf(yours, [1.0], [2.0]), yours.Tensor([[3.0, 4.0]])
    yours.backward(yours.matmul(x, a))
    equal(x.grad is None, True, "x requires no gradient", what="whether x.grad is None")
    close(gradient(a), np.array([[3.0], [4.0]]), "a does", what="the gradient of a")
    equal(yours.add(x, x).node is None, True, "nothing to record", what="whether x + x has no node")


@points(4, "it reads handwritten digits")
def test_digits(yours):
    (images, labels), (test_images, test_labels) = split_digits()
    predict = yours.train(images.reshape(-1, 64).astype(float), labels)
    guessed = predict(test_images.reshape(-1, 64).astype(float))
    equal(guessed.shape, (360,), "a label for each picture", what="the shape of what predict returns")
    right = int((guessed == test_labels).sum())
    why = "90 of 100 new pictures: clear .grad before each backward, and go on until the loss is small"
    holds(right >= 324, why, what="how many of 360 it reads", got=str(right), expected="324 or more")
