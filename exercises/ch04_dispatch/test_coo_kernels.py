"""Grades coo_kernels.py."""

import numpy as np

from exercises.grading import close, equal, points


def entries(*triples):
    """(indices, values) of (row, column, value) triples."""
    rows, columns, values = zip(*triples) if triples else ((), (), ())
    return np.array([rows, columns], np.int64).reshape(2, len(rows)), np.array(values, np.float64)


def coalesced(yours, *triples, sizes):
    """What coalesce gives, as triples."""
    indices, values = yours.coalesce(*entries(*triples), sizes)
    return [(int(row), int(column), float(value)) for row, column, value in zip(*indices, values)]


@points(1, "to_dense")
def test_dense(yours):
    got = yours.to_dense(*entries((1, 2, 3.0), (0, 0, 4.0)), (2, 3))
    close(got, np.array([[4.0, 0, 0], [0, 0, 3.0]]), "column k of indices says where value k stands", what="to_dense")
    got = yours.to_dense(*entries((0, 1, 3.0), (0, 1, 4.0)), (1, 2))
    close(got, np.array([[0.0, 7.0]]), "what stands at one place counts together", what="to_dense of two entries at [0, 1]")


@points(1, "coalesce adds what stands at one place")
def test_sum(yours):
    equal(coalesced(yours, (0, 1, 3.0), (0, 1, 4.0), sizes=(1, 2)), [(0, 1, 7.0)], "two entries at [0, 1] become one")


@points(2, "different places stay apart")
def test_places(yours):
    got = coalesced(yours, (0, 2, 1.0), (1, 0, 2.0), sizes=(2, 3))
    equal(got, [(0, 2, 1.0), (1, 0, 2.0)], "[0, 2] and [1, 0] are different places: a row has 3 elements here")


@points(1, "row-major order")
def test_order(yours):
    got = coalesced(yours, (1, 0, 1.0), (0, 2, 2.0), (0, 1, 3.0), sizes=(2, 3))
    equal(got, [(0, 1, 3.0), (0, 2, 2.0), (1, 0, 1.0)], "the places ascend, row by row")


@points(1, "zeros stay")
def test_zero(yours):
    got = coalesced(yours, (0, 0, 2.0), (0, 0, -2.0), (0, 1, 0.0), sizes=(1, 2))
    why = "a value of zero is still an entry: which places there are must not depend on the numbers"
    equal(got, [(0, 0, 0.0), (0, 1, 0.0)], why)


@points(1, "no entries, and the arguments stay")
def test_edges(yours):
    equal(coalesced(yours, sizes=(2, 3)), [], "a matrix of zeros has no entries")
    indices, values = entries((1, 0, 1.0), (0, 0, 2.0), (1, 0, 3.0))
    before = indices.copy(), values.copy()
    yours.coalesce(indices, values, (2, 1))
    equal(indices, before[0], "whoever holds the indices wants them as they were", what="indices after the call")
    equal(values, before[1], "and the values", what="values after the call")


@points(2, "the product with a dense matrix")
def test_product(yours):
    got = yours.multiply(*entries((0, 0, 2.0), (0, 1, 3.0)), (2, 2), np.array([[1.0, 10.0], [100.0, 1000.0]]))
    why = "every entry of a row adds its value times one row of the matrix"
    close(got, np.array([[302.0, 3020.0], [0, 0]]), why, what="the product")


@points(2, "random matrices, uncoalesced")
def test_random(yours, rng):
    rng = np.random.default_rng(rng.randrange(2**32))
    for _ in range(5):
        rows, columns, count = rng.integers(1, 8, 3)
        indices = np.stack([rng.integers(0, rows, count), rng.integers(0, columns, count)])
        values, matrix = rng.standard_normal(count), rng.standard_normal((columns, 3))
        dense = yours.to_dense(indices, values, (rows, columns))
        again = yours.to_dense(*yours.coalesce(indices, values, (rows, columns)), (rows, columns))
        close(again, dense, "coalesce changes nothing about the matrix", what="to_dense(coalesce(...))")
        product = yours.multiply(indices, values, (rows, columns), matrix)
        close(product, dense @ matrix, "the same product as with the dense matrix", what="multiply")
