"""Convolutions of arrays against their definition, by the ways that small and large arrays take."""

import itertools

import numpy as np
import pytest

from teachtorch.kernels import columns, convolution
from teachtorch.kernels.columns import Geometry

# (batch, channels, outputs, groups, kernel, stride, padding, dilation, space)
CASES = [
    (3, 4, 6, 1, 3, 1, 1, 1, 9), (2, 4, 6, 2, 3, 2, 1, 1, 9), (5, 4, 4, 4, 3, 2, 1, 1, 10), (5, 4, 8, 4, 3, 1, 2, 2, 10),
    (2, 3, 5, 1, 2, 3, 0, 1, 8), (2, 4, 4, 4, 2, 3, 1, 2, 11), (4, 3, 5, 1, 1, 1, 0, 1, 5), (1, 2, 2, 2, 2, 4, 0, 3, 12),
    (3, 8, 9, 1, 3, 1, 2, 1, 6), (2, 6, 15, 1, 5, 1, 5, 1, 7), (2, 12, 14, 2, 3, 2, 3, 2, 9),
]


@pytest.fixture(params=["small", "large"], autouse=True)
def way(request, monkeypatch):
    """NumPy's way of small arrays, or the compiled loops of large ones."""
    if request.param == "large":
        monkeypatch.setattr(columns, "SMALL", 0)
        monkeypatch.setattr(convolution, "LARGE", 0)


def arrays(case, ndim):
    batch, channels, outputs, groups, kernel, stride, padding, dilation, size = case
    rng = np.random.default_rng(0)
    x = rng.normal(size=(batch, channels, *range(size, size + ndim)))
    weight = rng.normal(size=(outputs, channels // groups, *[kernel] * ndim))
    geometry = Geometry([kernel] * ndim, [stride] * ndim, [padding] * ndim, [dilation] * ndim)
    return x, weight, rng.normal(size=outputs), geometry, groups


def by_definition(x, weight, bias, geometry, groups):
    """Every tap's share, added up."""
    padding = [(0, 0), (0, 0), *[(p, p) for p in geometry.padding]]
    padded, places = np.pad(x, padding), geometry.places(x.shape[2:])
    per_group = len(weight) // groups
    found = np.zeros((len(x), len(weight), *places)) + bias.reshape(-1, *[1] * len(places))
    for o, c in itertools.product(range(len(weight)), range(weight.shape[1])):
        plane = padded[:, o // per_group * weight.shape[1] + c]
        for tap in itertools.product(*map(range, geometry.kernel)):
            found[:, o] += weight[(o, c, *tap)] * plane[(..., *columns.spots(tap, geometry, places))]
    return found


@pytest.mark.parametrize("ndim", [1, 2])
@pytest.mark.parametrize("case", CASES)
def test_a_convolution_is_the_sum_of_its_taps(case, ndim):
    given = arrays(case, ndim)
    np.testing.assert_allclose(convolution.convolve(*given), by_definition(*given), atol=1e-10)


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("case", CASES)
def test_the_gradients_are_the_transposes(case, ndim):
    """<grad, conv(x, w)> is linear in x and in w: it is <x, transposed(grad, w)> and <w, weight_gradient(grad, x)>."""
    x, weight, _, geometry, groups = arrays(case, ndim)
    out = convolution.convolve(x, weight, None, geometry, groups)
    grad = np.random.default_rng(1).normal(size=out.shape)
    by_x = convolution.convolve_transposed(grad, weight, x.shape[2:], geometry, groups)
    by_weight = convolution.weight_gradient(grad, x, weight.shape, geometry, groups)
    assert by_x.shape == x.shape and by_weight.shape == weight.shape
    product = (grad * out).sum()
    np.testing.assert_allclose([(x * by_x).sum(), (weight * by_weight).sum()], [product, product])


def test_the_order_of_an_arrays_memory_does_not_matter():
    x, weight, bias, geometry, groups = arrays(CASES[0], 2)
    expected = convolution.convolve(x, weight, bias, geometry, groups)
    found = convolution.convolve(np.asfortranarray(x), np.asfortranarray(weight), bias, geometry, groups)
    np.testing.assert_allclose(found, expected)


def test_rows_longer_than_a_buffer_are_computed_in_parts():
    x, weight, bias, geometry, groups = arrays((2, 3, 7, 1, 3, 1, 1, 1, 2500), 1)
    np.testing.assert_allclose(
        convolution.convolve(x, weight, bias, geometry, groups),
        by_definition(x, weight, bias, geometry, groups), atol=1e-10,
    )


def test_a_number_beside_infinity_stays_finite():
    """Vectors reach over the ends of rows; what they find there must not touch the results."""
    x, weight, _, geometry, groups = arrays((2, 8, 9, 1, 3, 1, 1, 1, 9), 2)
    x[0, :, 0, -1] = np.inf
    with np.errstate(invalid="ignore"):
        found = convolution.convolve(x, weight, None, geometry, groups)
    assert np.isfinite(found[0, :, 2:]).all() and np.isfinite(found[0, :, :, :-2]).all() and np.isfinite(found[1]).all()
