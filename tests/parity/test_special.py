"""torch.special: values, dtypes, gradients and extreme arguments, for few elements and for many."""
import numpy as np
import pytest

import teachtorch

torch = pytest.importorskip("torch")

UNARY = {"entr": (0.0, 3.0), "erfcx": (-4.0, 40.0), "ndtr": (-6.0, 6.0), "log_ndtr": (-40.0, 8.0),
         "ndtri": (1e-6, 1 - 1e-6), "i0e": (-60.0, 60.0), "i1e": (-60.0, 60.0)}
BINARY = {"xlog1py": (-3.0, 3.0, -0.9, 5.0), "zeta": (1.1, 8.0, 0.2, 9.0), "gammainc": (0.1, 30.0, 0.0, 60.0),
          "gammaincc": (0.1, 30.0, 0.0, 60.0)}
EXTREME = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-30, 30.0, -30.0, 1e3, -1e3, float("inf"), -float("inf"), float("nan")]
SIZES = [7, 70_000]


def numbers(low, high, size, seed=0):
    return np.random.default_rng(seed).uniform(low, high, size)


def both(name, arrays, dtype):
    return [getattr(T.special, name)(*[T.tensor(a, dtype=getattr(T, dtype)) for a in arrays])
            for T in (teachtorch, torch)]


def assert_near(found, wanted, rtol):
    assert str(found.dtype) == str(wanted.dtype) and tuple(found.shape) == tuple(wanted.shape)
    np.testing.assert_allclose(found.double().numpy(), wanted.double().numpy(), rtol=rtol, atol=rtol * 1e-2)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype, rtol", [("float64", 1e-11), ("float32", 2e-5)])
@pytest.mark.parametrize("name", UNARY)
def test_one_argument(name, dtype, rtol, size):
    assert_near(*both(name, [numbers(*UNARY[name], size)], dtype), rtol)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype, rtol", [("float64", 4e-9), ("float32", 1e-4)])     # PyTorch's gammainc: 2e-9 off
@pytest.mark.parametrize("name", BINARY)
def test_two_arguments(name, dtype, rtol, size):
    a, b, c, d = BINARY[name]
    assert_near(*both(name, [numbers(a, b, size), numbers(c, d, size, 1)], dtype), rtol)


@pytest.mark.parametrize("name", UNARY)
def test_extreme_arguments(name):
    assert_near(*both(name, [EXTREME], "float64"), 1e-9)


@pytest.mark.parametrize("name", ["xlog1py", "gammainc", "gammaincc"])
def test_pairs_of_extreme_arguments(name):
    values = [0.0, 1.0, -1.0, 3.5, float("inf"), float("nan")]
    pairs = np.array([(a, b) for a in values for b in values]).T
    assert_near(*both(name, list(pairs), "float64"), 1e-9)


@pytest.mark.parametrize("name", ["entr", "ndtr", "erfcx", "i0e", "ndtri"])
def test_integers_become_floats(name):
    found, wanted = [getattr(T.special, name)(T.tensor([0, 1, 2])) for T in (teachtorch, torch)]
    assert_near(found, wanted, 1e-5)


def gradients(T, name, arrays):
    tensors = [T.tensor(a, dtype=T.float64, requires_grad=True) for a in arrays]
    getattr(T.special, name)(*tensors).sum().backward()
    return [t.grad for t in tensors]


@pytest.mark.parametrize("name", UNARY)
def test_gradients(name):
    found, wanted = (gradients(T, name, [numbers(*UNARY[name], 9)])[0] for T in (teachtorch, torch))
    assert_near(found, wanted, 1e-8)


@pytest.mark.parametrize("name", ["zeta", "gammainc", "gammaincc"])
def test_gradients_by_the_second_argument(name):
    a, b, c, d = BINARY[name]

    def gradient(T):
        x = T.tensor(numbers(c + 0.1, d, 9, 1), requires_grad=True)
        getattr(T.special, name)(T.tensor(numbers(a, b, 9)), x).sum().backward()
        return x.grad
    assert_near(gradient(teachtorch), gradient(torch), 1e-8)


@pytest.mark.parametrize("name", ["zeta", "gammainc", "gammaincc"])
def test_no_gradient_by_the_first_argument(name):
    messages = []
    for T in (teachtorch, torch):
        with pytest.raises(NotImplementedError) as refused:
            gradients(T, name, [[2.0], [1.5]])
        messages.append(str(refused.value))
    assert messages[0] == messages[1]


def test_mvlgamma():
    for p in (1, 2, 4):
        found, wanted = (T.special.multigammaln(T.tensor([2.5, 7.0]), p) for T in (teachtorch, torch))
        assert_near(found, wanted, 1e-6)
