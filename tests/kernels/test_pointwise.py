"""Pointwise kernels: the same numbers, dtypes and layouts whichever way an array takes."""

import itertools
import math
import os

import numpy as np
import pytest

from teachtorch.kernels import parallel, scalar
from teachtorch.kernels.pointwise import SMALL, Pointwise
from teachtorch.kernels.strided import offer_memory
from tests.kernels.threads import in_threads

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


def scaled(x, y):
    return x + y * 2


add = Pointwise(lambda x, y: x + y, np.add)
blend = Pointwise(scaled, lambda x, y: x + y * x.dtype.type(2))
less = Pointwise(lambda x, y: x < y, np.less, result=np.bool_)
negative = Pointwise(lambda x: -x, np.negative)


def scaled_by_condition(condition, x, y):
    return x if condition else y


where = Pointwise(scaled_by_condition, np.where)


def numbers(shape, dtype="float32", seed=0):
    return (np.random.default_rng(seed).normal(0, 10, shape) if np.dtype(dtype).kind == "f" else
            np.random.default_rng(seed).integers(0, 2 if dtype == "bool" else 50, shape)).astype(dtype)


def check(kernel, *arrays):
    """Assert that a kernel gives what NumPy gives, in NumPy's layout."""
    result, expected = kernel(*arrays), np.asarray(kernel.numpy(*arrays))
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(result, expected)
    return result


@pytest.mark.parametrize("size", [0, 1, 5, SMALL, SMALL + 1, 3 * SMALL + 7])
def test_small_and_large_arrays(size):
    check(add, numbers(size), numbers(size, seed=1))
    check(negative, numbers(size))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype):
    x, y = numbers(SMALL + 3, dtype), numbers(SMALL + 3, dtype, seed=1)
    check(less, x, y)


@pytest.mark.parametrize("dtype", ["int8", "int64", "float64"])
def test_a_number_in_the_source_takes_the_arrays_dtype(dtype):
    x, y = numbers(SMALL + 3, dtype), numbers(SMALL + 3, dtype, seed=1)
    check(blend, x, y)


def test_integers_wrap_around_as_in_numpy():
    x = np.full(SMALL + 1, 127, np.int8)
    check(blend, x, x)


def test_bfloat16_goes_through_numpy():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    check(add, numbers(SMALL + 3).astype(bfloat16), numbers(SMALL + 3, seed=1).astype(bfloat16))


N = 200


def four(x):
    return x.reshape(10, 20, 10, 20)


LAYOUTS = {
    "contiguous": (lambda x: x, lambda y: y),
    "both transposed": (lambda x: x.T, lambda y: y.T),
    "one transposed": (lambda x: x, lambda y: y.T),
    "columns sliced": (lambda x: x[:, ::2], lambda y: y[:, 1::2]),
    "rows sliced": (lambda x: x[::2], lambda y: y[1::2]),
    "a row repeated": (lambda x: x, lambda y: y[0]),
    "a column repeated": (lambda x: x, lambda y: y[:, :1]),
    "stride 0": (lambda x: x, lambda y: np.broadcast_to(y[3], (N, N))),
    "an outer sum": (lambda x: x[0, :, None], lambda y: y[0]),
    "a number": (lambda x: x, lambda y: y[0, 0]),
    "a number first": (lambda x: x[0, 0], lambda y: y),
    "one element of more dimensions": (lambda x: x, lambda y: y[:1, :1].reshape(1, 1, 1)),
    "three dimensions": (lambda x: x.reshape(10, 20, N), lambda y: y.reshape(10, 20, N)[:, :1]),
    "four dimensions": (lambda x: four(x)[::2, ::2, ::2, ::2].repeat(9, 0).transpose(3, 1, 0, 2),
                        lambda y: four(y)[:9, :10, :5, ::2].transpose(3, 1, 0, 2)[:, :, :1]),
    "backwards": (lambda x: x[::-1], lambda y: y),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(layout):
    left, right = LAYOUTS[layout]
    x, y = left(numbers((N, N))), right(numbers((N, N), seed=1))
    assert np.broadcast(x, y).size > SMALL / 2
    check(add, x, y)
    check(add, y, x)


# Sizes and strides of two operands, and the strides of their sum in PyTorch.
TORCH_LAYOUTS = [
    ((2, 3), (1, 2), (2, 3), (3, 1), (1, 2)),
    ((2, 3), (3, 1), (2, 3), (1, 2), (3, 1)),
    ((5, 3, 5), (15, 1, 3), (5, 3, 5), (15, 5, 1), (15, 1, 3)),
    ((1, 3, 5, 1), (30, 1, 6, 3), (1, 1, 5, 3), (1, 1, 1, 5), (45, 1, 9, 3)),
    ((2, 5, 1, 3), (1, 6, 6, 2), (2, 5, 1, 3), (5, 1, 5, 15), (1, 6, 30, 2)),
    ((2, 1, 2, 5), (12, 2, 1, 2), (3, 2, 5), (5, 15, 1), (30, 10, 1, 2)),
    ((2, 8, 4, 4), (128, 1, 32, 8), (8, 1, 1), (1, 1, 1), (128, 1, 32, 8)),
]


def array_of(shape, strides):
    memory = np.arange(1000, dtype=np.float32)
    return np.lib.stride_tricks.as_strided(memory, shape, [4 * stride for stride in strides])


@pytest.mark.parametrize("small", [SMALL, -1], ids=["numpy", "compiled"])
@pytest.mark.parametrize("shape, strides, other_shape, other_strides, expected", TORCH_LAYOUTS)
def test_the_layout_is_pytorch_s(shape, strides, other_shape, other_strides, expected, small, monkeypatch):
    x, y = array_of(shape, strides), array_of(other_shape, other_strides)
    monkeypatch.setattr(add, "_small", small)
    result = add(x, y)
    np.testing.assert_array_equal(result, x + y)
    known = [d for d, size in enumerate(result.shape) if size > 1]
    assert [result.strides[d] // 4 for d in known] == [expected[d] for d in known]


def test_read_only_and_unaligned_operands():
    x, y = numbers(2 * SMALL), numbers(2 * SMALL, seed=1)
    x.flags.writeable = False
    check(add, x, y)
    unaligned = np.frombuffer(bytes(1) + y.tobytes(), np.uint8)[1:].view(np.float32)
    assert not unaligned.flags.aligned
    check(add, x, unaligned)


def test_a_condition_may_be_bool_beside_floats():
    condition = numbers(2 * SMALL, "bool")
    check(where, condition, numbers(2 * SMALL), numbers(2 * SMALL, seed=1))
    check(where, condition[:5], numbers(5), numbers(5, seed=1))


def test_one_element_of_any_shape_is_compiled_for():
    only = Pointwise(lambda x, y: x + y)
    for left, right in itertools.product([(), (1,), (1, 1, 1)], repeat=2):
        result = only(np.ones(left, np.float32), np.ones(right, np.float32))
        assert result.shape == max(left, right, key=len) and result.ravel().tolist() == [2]


@pytest.mark.parametrize("size", [5, 2 * SMALL])
def test_a_zero_dimensional_result_is_an_array(size):
    assert type(add(np.float32(1), np.float32(2))) is np.ndarray
    assert type(add(np.array(1.0), np.array(2.0))) is np.ndarray
    assert type(where(np.bool_(True), np.float32(1), np.float32(2))) is np.ndarray


@pytest.mark.parametrize("rows", [4, N])
def test_out_is_filled_and_returned(rows):
    x, y = numbers((rows, N)), numbers((rows, N), seed=1)
    gaps = np.empty((rows, 2 * N), np.float32)[:, ::2]
    for out in (np.empty_like(x), np.empty((N, rows), np.float32).T, gaps):
        assert add(x, y, out=out) is out
        np.testing.assert_array_equal(out, x + y)


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.T, lambda x: x[:, ::2], lambda x: x[::2, 1:]])
@pytest.mark.parametrize("rows", [4, N])
def test_out_may_be_an_operand(view, rows):
    base = numbers((rows, N))
    x, y = view(base), view(numbers((rows, N), seed=1))
    expected = x + y
    add(x, y, out=x)
    np.testing.assert_array_equal(x, expected)
    again = x[...]  # another array object over the same memory
    add(y, again, out=x)
    np.testing.assert_array_equal(x, expected + y)
    add(x, x, out=x)
    np.testing.assert_array_equal(x, 2 * (expected + y))


def test_out_may_overlap_an_operand():
    x = numbers(3 * SMALL)
    expected = x[:-1] + x[1:]
    add(x[:-1], x[1:], out=x[1:])
    np.testing.assert_array_equal(x[1:], expected)


def test_an_out_of_four_dimensions_with_gaps():
    x, y = numbers((20, 20, 20, 20)), numbers((20, 20, 20, 20), seed=1)
    out = np.zeros((40, 40, 40, 40), np.float32)[::2, ::2, ::2, ::2]
    add(x, y.transpose(1, 0, 3, 2), out=out)
    np.testing.assert_array_equal(out, x + y.transpose(1, 0, 3, 2))


def test_no_warning_at_infinities():
    check_zero = Pointwise(lambda x, y: x / y, np.divide)
    for size in (3, 2 * SMALL):
        x = np.zeros(size, np.float32)
        assert np.isnan(check_zero(x, x)).all()
        assert np.isinf(check_zero(x + 1, x)).all()


def test_without_a_numpy_function_small_arrays_are_compiled_for():
    only = Pointwise(scaled)
    for dtype in ("float32", "float16"):
        result = only(np.ones(3, dtype), np.ones(3, dtype))
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, [3, 3, 3])


@pytest.mark.parametrize("layout", ["contiguous", "one transposed", "a row repeated"])
def test_results_do_not_depend_on_the_number_of_threads(layout):
    left, right = LAYOUTS[layout]
    x, y = left(numbers((N, N))), right(numbers((N, N), seed=1))
    before, results = parallel.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            parallel.set_num_threads(threads)
            results.append(add(x, y))
    finally:
        parallel.set_num_threads(before)
    assert (results[0] == results[1]).all() and (results[0] == results[2]).all()


def test_two_python_threads_may_call_at_once():
    """Also while a kernel is being compiled for the first time."""
    fresh = Pointwise(lambda x, y: x - y * 3, lambda x, y: x - y * 3)
    x, y = numbers((3, 100000)), numbers((3, 100000), seed=1)

    def work():
        for _ in range(20):
            np.testing.assert_array_equal(add(x, y), x + y)
            np.testing.assert_allclose(fresh(x, y), x - y * 3, rtol=1e-5, atol=1e-5)

    in_threads(2, work)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_runs_the_kernels():
    x = numbers((3, 100000))
    add(x, x)
    child = os.fork()
    if child == 0:
        os._exit(0 if (add(x, x) == x + x).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_sources_of_all_kinds_compile():
    """Lambdas on one line, closures over numbers, keyword-only operands, other pointwise functions."""
    factor = 2.5

    def keyword(x, *, alpha):
        return scalar.relu(x) * factor + doubled(x) * alpha
    first, second = (lambda x: x * 3), (lambda x: x * 5)
    doubled = Pointwise(lambda x: x * 2)
    x = numbers(10)
    np.testing.assert_allclose(Pointwise(lambda x: math.fmod(x, 3))(x), np.fmod(x, 3))
    np.testing.assert_allclose(Pointwise(first)(x), x * 3)
    np.testing.assert_allclose(Pointwise(second)(x), x * 5)
    expected = np.maximum(x, 0) * factor + 2 * x * 7
    np.testing.assert_allclose(Pointwise(keyword)(x, np.float32(7)), expected, rtol=1e-5)


def test_a_function_that_cannot_be_compiled_is_refused():
    table = {1: 2}
    with pytest.raises(TypeError, match="only numbers and functions"):
        Pointwise(lambda x: x + table)(np.ones(3))
    with pytest.raises(TypeError, match="no_such_name"):
        Pointwise(lambda x: x + no_such_name)(np.ones(3))  # noqa: F821
    built = eval("lambda x: x")
    with pytest.raises(TypeError, match="source"):
        Pointwise(built)(np.ones(3))


# ---- memory that is offered --------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(SMALL + 1,), (SMALL, 3)])
def test_a_large_result_is_written_into_offered_memory_once(shape):
    kernel = Pointwise(scalar.tanh, numpy=np.tanh)
    x, offered = np.ones(shape, np.float32), np.zeros(shape, np.float32)
    offer_memory(offered)
    first, second = kernel(x), kernel(x * 2)
    assert first is offered and second is not offered
    np.testing.assert_allclose(offered, np.tanh(x), rtol=1e-6)


@pytest.mark.parametrize("unfit", [np.zeros(SMALL + 2, np.float32), np.zeros(SMALL + 1, np.float64)])
def test_offered_memory_that_does_not_fit_is_left_alone(unfit):
    offer_memory(unfit)
    found = Pointwise(scalar.tanh, numpy=np.tanh)(np.ones(SMALL + 1, np.float32))
    assert found.shape == (SMALL + 1,) and found.dtype == np.float32 and not unfit.any()
