"""Your own engine, put together: it trains the digits.

The parts are those of the other exercises: unbroadcast, accumulate, diamond, routing. Take what you wrote
there. A tensor here is an array with a node; a node knows where its gradients go, and the formula that
makes them:

    out = add(matmul(x, w), b)

    AddBackward ---> MatmulBackward ---> None              x requires no gradient
        |                   +----------> AccumulateGrad w
        +----------------------------> AccumulateGrad b

`record` makes the tensor and the node. The operations say which formula belongs to them; `backward` runs
the nodes, each one once, when all its gradients have come. With that, `train` trains a network.
"""

import heapq
import itertools

import numpy as np

NUMBERS = itertools.count()


class Node:
    """next_nodes: where the gradients go, None for a constant operand. formula: grad -> list of gradients."""

    def __init__(self, name, next_nodes, formula):
        self.name, self.next_nodes, self.formula = name, next_nodes, formula
        self.sequence_nr = next(NUMBERS)

    def __repr__(self):
        return self.name


class Tensor:
    """An array, perhaps with a gradient. node: what made it; AccumulateGrad for a leaf that requires one."""

    def __init__(self, data, requires_grad=False, node=None):
        self.data = np.asarray(data, dtype=float)
        self.grad = None
        self.node = node
        if requires_grad and node is None:
            self.node = Node("AccumulateGrad", [], lambda grad: accumulate(self, grad))

    def __repr__(self):
        return f"Tensor({self.data.tolist()})"


def record(name, data, operands, formula):
    """Return the result of an operation, with a node if an operand has one. It is complete.

    data: the result's array. operands: the tensors. formula: grad -> a list with a gradient for each operand.
    """
    next_nodes = [each.node for each in operands]
    node = Node(name, next_nodes, formula) if any(next_nodes) else None
    return Tensor(data, node=node)


def unbroadcast(grad, shape):
    """Sum grad, an array, over what was broadcast, so that it has this shape, the operand's."""
    # solution
    added = grad.ndim - len(shape)
    grown = [added + dim for dim, size in enumerate(shape) if size == 1 and grad.shape[added + dim] != 1]
    return grad.sum((*range(added), *grown), keepdims=True).reshape(shape)
    # end of solution


def accumulate(leaf, grad):
    """Put a gradient into leaf.grad, or add it; never keep the array that came. Returns []."""
    # solution
    leaf.grad = grad.copy() if leaf.grad is None else leaf.grad + grad
    return []
    # end of solution


def add(a, b):
    """The sum of two tensors, with broadcasting."""

    # solution
    def formula(grad):
        return [unbroadcast(grad, a.data.shape), unbroadcast(grad, b.data.shape)]

    return record("AddBackward", a.data + b.data, [a, b], formula)
    # end of solution


def matmul(a, b):
    """The product of two matrices."""

    # solution
    def formula(grad):
        return [grad @ b.data.T, a.data.T @ grad]

    return record("MatmulBackward", a.data @ b.data, [a, b], formula)
    # end of solution


def relu(a):
    """a where it is positive, 0 elsewhere."""
    # solution
    return record("ReluBackward", np.maximum(a.data, 0), [a], lambda grad: [grad * (a.data > 0)])
    # end of solution


def cross_entropy(scores, labels):
    """The average over the rows of -log(softmax(row)[label]); finite for any finite scores.

    scores: a tensor of shape (N, C). labels: an integer array of shape (N,). Returns a 0-dim tensor.
    """
    # solution
    rows = np.arange(len(labels))
    shifted = scores.data - scores.data.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))

    def formula(grad):
        probabilities = np.exp(logs)
        probabilities[rows, labels] -= 1
        return [grad * probabilities / len(labels)]

    return record("CrossEntropyBackward", -logs[rows, labels].mean(), [scores], formula)
    # end of solution


def backward(loss):
    """Fill .grad of all leaves that the loss depends on. loss: a tensor of one element, with a node.

    Each node runs once, with the sum of all gradients that lead to it. The graph may be a chain of many
    thousand nodes, so do not recurse.
    """
    # solution
    counts = _count(loss.node)
    buffers, ready = {loss.node: np.ones_like(loss.data)}, [(0, 0, loss.node)]
    while ready:
        node = heapq.heappop(ready)[-1]
        for following, part in zip(node.next_nodes, node.formula(buffers.pop(node))):
            if following is None:
                continue
            buffers[following] = buffers[following] + part if following in buffers else part
            counts[following] -= 1
            if counts[following] == 0:
                heapq.heappush(ready, (-following.sequence_nr, id(following), following))
    # end of solution


def train(images, labels):
    """Train a network on pictures and return a function, pictures -> predicted labels.

    images: a float array (N, 64), values from 0 to 1. labels: an integer array (N,), 0 to 9. A network of
    two layers (64 -> 32 -> 10) and plain gradient descent are enough: 30 times over the pictures, 64 at a
    time. It has a few seconds.
    """
    # solution
    random = np.random.default_rng(0)
    shapes = [(64, 32), (1, 32), (32, 10), (1, 10)]
    parameters = [
        Tensor(random.standard_normal(shape) / shape[0] ** 0.5, requires_grad=True) for shape in shapes
    ]
    for _ in range(30):
        order = random.permutation(len(labels))
        for begin in range(0, len(labels), 64):
            batch = order[begin : begin + 64]
            _step(parameters, images[batch], labels[batch])
    return lambda images: _scores(parameters, images).data.argmax(1)
    # end of solution


# solution
def _count(root):
    counts, stack = {root: 0}, [root]
    while stack:
        for following in stack.pop().next_nodes:
            if following is None:
                continue
            if following not in counts:
                counts[following] = 0
                stack.append(following)
            counts[following] += 1
    return counts


def _scores(parameters, images):
    w1, b1, w2, b2 = parameters
    return add(matmul(relu(add(matmul(Tensor(images), w1), b1)), w2), b2)


def _step(parameters, images, labels):
    for each in parameters:
        each.grad = None
    backward(cross_entropy(_scores(parameters, images), labels))
    for each in parameters:
        each.data = each.data - 0.3 * each.grad


# end of solution
