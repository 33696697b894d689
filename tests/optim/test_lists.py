"""Kernels over lists of arrays: chunks cover all elements, compiled code and NumPy give the same bits."""
import numpy as np
import pytest

from teachtorch.kernels.optim import CHUNK, ListKernel, chunks_of, table_of


def mixed(a, b, number):
    return a + number * b, a * b


def lists_of(shapes, dtype=np.float32):
    values = np.random.default_rng(0)
    return [[values.standard_normal(shape).astype(dtype) for shape in shapes] for _ in range(3)]


def test_chunks_cover_every_element_once():
    sizes = np.array([3, 0, CHUNK, 2 * CHUNK + 1])
    seen = [set() for _ in sizes]
    for array, first, count in chunks_of(sizes):
        assert 0 < count <= CHUNK
        seen[array].update(range(first, first + count))
    assert [len(s) for s in seen] == sizes.tolist()


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_compiled_code_and_numpy_agree_to_the_bit(dtype):
    shapes = [(200, 300), (7,), (), (0, 3)]
    numbers = [[0.5, -1.0, 2.0, 3.0]]
    out, a, b = lists_of(shapes, dtype)
    kernel = ListKernel(mixed, 3, reads=(1, 2), writes=(0, 2))
    wanted = [mixed(x, y, dtype(n)) for x, y, n in zip(a, b, numbers[0])]
    assert kernel([out, a, b], numbers)
    for found, changed, (first, second) in zip(out, b, wanted):
        np.testing.assert_array_equal(found, first)
        np.testing.assert_array_equal(changed, second)


def test_arrays_that_are_not_dense_are_left_to_numpy():
    out, a, b = lists_of([(200, 300), (5, 4)])
    a[1] = np.zeros((5, 8), np.float32)[:, ::2]
    assert table_of([out, a, b], np.dtype(np.float32)) is None
    kernel = ListKernel(mixed, 3, reads=(1, 2), writes=(0, 2))
    wanted = a[1] + np.float32(2) * b[1]
    assert kernel([out, a, b], [2.0])
    np.testing.assert_array_equal(out[1], wanted)


def test_arrays_that_lie_in_other_orders_are_not_mixed_up():
    out, a, b = lists_of([(200, 300)])
    a[0] = np.asfortranarray(a[0])
    wanted = a[0] + b[0]
    assert ListKernel(mixed, 3, reads=(1, 2), writes=(0, 2))([out, a, b], [1.0])
    np.testing.assert_array_equal(out[0], wanted)


@pytest.mark.parametrize("other",
                         (np.zeros((2, 3)), np.zeros((3, 2), np.float32), np.zeros((2, 3), np.int64)))
def test_unlike_arrays_are_refused_and_stay(other):
    out, a, _ = lists_of([(2, 3)])
    before = out[0].copy()
    assert not ListKernel(mixed, 3, reads=(1, 2), writes=(0, 2))([out, a, [other]], [1.0])
    np.testing.assert_array_equal(out[0], before)
