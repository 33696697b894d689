"""Grades take_along.py."""

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, equal, points


def rows(*values):
    return np.array(values, dtype=np.int64)


@points(1, "equal sizes: gather")
def test_same(yours):
    x, index = torch.tensor([[10, 11, 12], [20, 21, 22]]), torch.tensor([[2, 0], [1, 1]])
    equal(array_of(yours.take_along_dim(x, index, 1)), rows([12, 10], [21, 21]), "row by row, as gather does")


@points(2, "index is broadcast to x")
def test_index_grows(yours):
    x, index = torch.tensor([[10, 11, 12], [20, 21, 22]]), torch.tensor([[2, 0]])
    why = "one row of index serves both rows of x (gather alone would take the first row only)"
    equal(array_of(yours.take_along_dim(x, index, 1)), rows([12, 10], [22, 20]), why)


@points(1, "x is broadcast to index")
def test_x_grows(yours):
    x, index = torch.tensor([[10, 11, 12]]), torch.tensor([[2], [0]])
    why = "one row of x serves both rows of index"
    equal(array_of(yours.take_along_dim(x, index, 1)), rows([12], [10]), why)


@points(1, "but never along dim")
def test_not_along_dim(yours):
    x, index = torch.tensor([[10], [20]]), torch.tensor([[0, 0, 0], [0, 0, 0]])
    why = "along dim the sizes are their own: three times the one element"
    equal(array_of(yours.take_along_dim(x, index, 1)), rows([10, 10, 10], [20, 20, 20]), why)
    x, index = torch.tensor([[10, 11, 12], [20, 21, 22]]), torch.tensor([[1], [2]])
    equal(array_of(yours.take_along_dim(x, index, 1)), rows([11], [22]), "one element of each row, not three")


@points(1, "the inverse of a permutation")
def test_inverse(yours):
    got = array_of(yours.inverse(torch.tensor([1, 2, 0])))
    equal(got, rows(2, 0, 1), "inverse[order[i]] = i: inverse[1] = 0, inverse[2] = 1, inverse[0] = 2")
    got = array_of(yours.inverse(torch.tensor([[1, 0, 2], [2, 0, 1]])))
    equal(got, rows([1, 0, 2], [1, 2, 0]), "each row by itself")


@points(2, "unsort undoes sort, and lets the gradient through")
def test_unsort(yours):
    x = torch.tensor([30.0, 10.0, 20.0], requires_grad=True)
    values, order = x.sort(-1)
    back = yours.unsort(values, order)
    equal(array_of(back), np.array([30.0, 10.0, 20.0], np.float32), "every value back in its old place")
    (back * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    equal(array_of(x.grad), np.array([1.0, 2.0, 3.0], np.float32), "there and back again", what="x.grad")


@points(1, "any tensors, as the library does it")
def test_any(yours, rng):
    for _ in range(15):
        full = [rng.randint(1, 3) for _ in range(3)]
        dim = rng.randrange(3)
        ours, theirs = ([rng.choice([1, size]) for size in full] for _ in range(2))
        ours[dim], theirs[dim] = rng.randint(1, 4), rng.randint(1, 4)
        x = torch.arange(float(np.prod(ours))).reshape(ours)
        index = torch.tensor(np.random.default_rng(rng.randrange(2**32)).integers(0, ours[dim], theirs))
        expected = array_of(x.take_along_dim(index, dim))
        equal(array_of(yours.take_along_dim(x, index, dim)), expected, "broadcast but for dim, then gather")
