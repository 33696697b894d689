"""Bessel functions, Airy's and orthogonal polynomials of torch.special against PyTorch."""
import numpy as np
import pytest

import teachtorch
from tests.parity.same_call import assert_same_error

torch = pytest.importorskip("torch")

# Where PyTorch's own values are right to the last digits (see teachtorch/kernels/bessel.py).
RANGES = {"bessel_j0": (-3.0, 3.0), "bessel_j1": (-3.0, 3.0), "bessel_y0": (0.01, 3.0), "bessel_y1": (0.01, 3.0),
          "modified_bessel_i0": (-60.0, 60.0), "modified_bessel_i1": (-60.0, 60.0), "modified_bessel_k0": (0.01, 60.0),
          "modified_bessel_k1": (0.01, 60.0), "scaled_modified_bessel_k0": (0.01, 2000.0),
          "scaled_modified_bessel_k1": (0.01, 2000.0), "spherical_bessel_j0": (-60.0, 60.0), "airy_ai": (-2.0, 20.0)}
FAR = {"bessel_j0": (14.0, 2000.0), "bessel_j1": (14.0, 2000.0), "bessel_y0": (14.0, 2000.0),
       "bessel_y1": (14.0, 2000.0), "airy_ai": (-50.0, -5.0)}
EXTREME = [0.0, -0.0, 1.0, -1.0, 1e-30, -1e-30, 30.0, -30.0, 1e3, -1e3, float("inf"), -float("inf"), float("nan")]
POLYNOMIALS = [f"{name}_polynomial_{letter}" for name, letters in (
    ("chebyshev", "tuvw"), ("shifted_chebyshev", "tuvw"), ("hermite", ("h", "he")), ("laguerre", "l"),
    ("legendre", "p")) for letter in letters]


def both(name, *arguments, dtype="float64"):
    return [getattr(T.special, name)(*[T.tensor(a, dtype=getattr(T, dtype)) for a in arguments])
            for T in (teachtorch, torch)]


def assert_near(found, wanted, rtol):
    assert str(found.dtype) == str(wanted.dtype) and tuple(found.shape) == tuple(wanted.shape)
    np.testing.assert_allclose(found.double().numpy(), wanted.double().numpy(), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("size", [9, 20_000])
@pytest.mark.parametrize("dtype, rtol", [("float64", 1e-11), ("float32", 2e-5)])
@pytest.mark.parametrize("name", RANGES)
def test_functions(name, dtype, rtol, size):
    assert_near(*both(name, np.linspace(*RANGES[name], size), dtype=dtype), rtol)


@pytest.mark.parametrize("name", FAR)
def test_functions_far_from_zero(name):
    assert_near(*both(name, np.linspace(*FAR[name], 500)), 1e-11)


@pytest.mark.parametrize("name", RANGES)
def test_extreme_arguments(name):
    found, wanted = both(name, EXTREME)
    assert_near(found, wanted, 1e-9)
    np.testing.assert_array_equal(np.signbit(found.numpy()[:2]), np.signbit(wanted.numpy()[:2]))


@pytest.mark.parametrize("name", RANGES)
def test_whole_numbers_and_bools(name):
    assert_near(*both(name, [1, 2, 3], dtype="int64"), 1e-6)
    assert_near(*both(name, [False, True], dtype="bool"), 1e-6)


@pytest.mark.parametrize("degree", [-1.0, -0.5, 0.0, 1.0, 2.0, 2.9, 3.0, 8.0, 9.0, 40.0, float("nan")])
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name, degree):
    x = [*np.linspace(-2, 2, 17), 1e200, float("inf"), -float("inf")]
    assert_near(*both(name, x, degree), 1e-10)


@pytest.mark.parametrize("size", [7, 20_000])
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_of_float32(name, size):
    x, n = np.linspace(-1, 1, size), np.arange(size) % 7
    assert_near(*both(name, x, n, dtype="float32"), 2e-5)


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_of_numbers_whole_and_other_shapes(name):
    found, wanted = ([getattr(T.special, name)(T.tensor([0.5, 2.0]), 3),
                      getattr(T.special, name)(0.5, T.tensor([1, 4])),
                      getattr(T.special, name)(T.tensor([True, False]), T.tensor([[2], [3]])),
                      getattr(T.special, name)(T.zeros(0, 3), T.tensor(2.0)),
                      getattr(T.special, name)(T.arange(6.0).reshape(2, 3).t(), 2)] for T in (teachtorch, torch))
    for ours, theirs in zip(found, wanted):
        assert_near(ours, theirs, 1e-6)
        assert ours.numel() == 0 or ours.stride() == theirs.stride()


@pytest.mark.parametrize("name", [*RANGES, "erfcx", "log_ndtr", "ndtri"])
def test_halves_are_refused(name):
    assert_same_error(torch, f"torch.special.{name}(h)")
    assert_same_error(torch, f"torch.special.{name}(h.bfloat16())")


@pytest.mark.parametrize("name", [*POLYNOMIALS, "zeta"])
def test_pairs_of_halves_are_refused(name):
    assert_same_error(torch, f"torch.special.{name}(h, 2)")


@pytest.mark.parametrize("call", ["torch.special.bessel_j0(2.0)", "torch.special.legendre_polynomial_p(x)",
                                  "torch.special.airy_ai(x, out=x.long())",
                                  "torch.special.hermite_polynomial_h(x, torch.zeros(5))"])
def test_errors(call):
    assert_same_error(torch, call)


@pytest.mark.parametrize("name", ["bessel_j0", "airy_ai", "modified_bessel_i0"])
def test_results_require_no_gradient(name):
    for T in (teachtorch, torch):
        assert not getattr(T.special, name)(T.ones(2, requires_grad=True)).requires_grad
