"""Grades one_hot.py."""

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, equal, points, raises


def whole(*rows):
    return np.array(rows, dtype=np.int64)


@points(1, "a 1 where the label says")
def test_vector(yours):
    got = array_of(yours.one_hot(torch.tensor([2, 0]), 3))
    equal(got.astype(np.int64), whole([0, 0, 1], [1, 0, 0]), "label 2: the third of three classes")


@points(1, "labels of any shape")
def test_shape(yours):
    got = array_of(yours.one_hot(torch.tensor([[1], [0]]), 2))
    equal(got.astype(np.int64), whole([[0, 1]], [[1, 0]]), "the classes are a new dimension at the end")
    got = array_of(yours.one_hot(torch.tensor(1), 2))
    equal(got.astype(np.int64), whole(0, 1), "one label without dimensions")


@points(1, "the result is int64")
def test_dtype(yours):
    got = yours.one_hot(torch.tensor([0]), 1)
    equal(str(got.dtype).split(".")[-1], "int64", "PyTorch's one_hot counts, so it gives int64", what="dtype")


@points(1, "a label outside raises RuntimeError")
def test_outside(yours):
    raises(RuntimeError, yours.one_hot, torch.tensor([3]), 3, why="three classes are 0, 1 and 2")
    raises(RuntimeError, yours.one_hot, torch.tensor([-1]), 3, why="-1 is no class")


@points(1, "a label that occurs twice counts twice")
def test_counts(yours):
    got = array_of(yours.count_labels(torch.tensor([2, 0, 2]), 3))
    equal(got, whole(1, 0, 2), "two writes go to place 2, and both have to add")
    equal(array_of(yours.count_labels(torch.tensor([[1, 1], [1, 0]]), 2)), whole(1, 3), "labels of any shape")


@points(2, "the confusion matrix")
def test_confusion(yours):
    labels, guesses = torch.tensor([0, 0, 0, 1]), torch.tensor([0, 1, 1, 1])
    equal(
        array_of(yours.confusion(labels, guesses, 2)),
        whole([1, 2], [0, 1]),
        "rows are labels, columns are guesses: label 0 was guessed as 1 twice",
    )


@points(1, "the score of each row's label, and its gradient")
def test_scores(yours):
    scores = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    got = yours.scores_of_labels(scores, torch.tensor([2, 0]))
    equal(array_of(got), np.array([3.0, 4.0], np.float32), "row 0 has label 2, row 1 has label 0")
    got.sum().backward()
    expected = np.array([[0, 0, 1], [1, 0, 0]], np.float32)
    equal(array_of(scores.grad), expected, "the gradient goes where the score came from", what="scores.grad")


@points(1, "any labels")
def test_any(yours, rng):
    for _ in range(10):
        classes = rng.randint(2, 5)
        labels, guesses = ([rng.randrange(classes) for _ in range(8)] for _ in range(2))
        table = np.zeros((classes, classes), np.int64)
        for label, guess in zip(labels, guesses):
            table[label, guess] += 1
        got = yours.confusion(torch.tensor(labels), torch.tensor(guesses), classes)
        equal(array_of(got), table, "counted one after the other")
        counts = yours.count_labels(torch.tensor(labels), classes)
        equal(array_of(counts), table.sum(1), "a row's sum counts its label")
