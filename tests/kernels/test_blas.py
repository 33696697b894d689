"""Products of matrices divided among threads, and running sums: the same as NumPy's, whatever the shape."""

import numpy as np
import pytest

from teachtorch.kernels import blas, parallel, scan

SHAPES = [((700, 600), (600, 5)), ((5, 600), (600, 700)), ((300, 300), (300, 300)), ((40, 64, 64), (40, 64, 64)),
          ((64, 64), (40, 64, 80)), ((40, 64, 64), (64, 80)), ((2, 3, 200, 100), (1, 3, 100, 200)), ((1, 500, 90), (4, 90, 60))]


@pytest.fixture(params=[1, 3], autouse=True)
def threads(request):
    before = parallel.get_num_threads()
    parallel.set_num_threads(request.param)
    yield
    parallel.set_num_threads(before)


@pytest.mark.parametrize("shapes", SHAPES)
def test_a_large_product_is_numpys(shapes, monkeypatch):
    monkeypatch.setattr(blas, "GRAIN", 1 << 16)
    a, b = [np.random.default_rng(0).normal(size=shape) for shape in shapes]
    np.testing.assert_allclose(blas.matmul(a, b), np.matmul(a, b), rtol=1e-9, atol=1e-9)


def test_transposed_operands_and_a_given_result():
    rng = np.random.default_rng(0)
    a, b, out = rng.normal(size=(300, 400)).T, rng.normal(size=(200, 300)).T, np.empty((400, 200))
    assert blas.matmul(a, b, out=out) is out
    np.testing.assert_allclose(out, np.matmul(a, b), rtol=1e-9, atol=1e-9)


def test_blas_has_its_threads_back_afterwards():
    controls = blas.thread_controls()
    if controls is None:
        pytest.skip("NumPy has another BLAS than OpenBLAS")
    before = controls[0]()
    with blas.one_thread:
        assert controls[0]() == 1
        with blas.one_thread:
            pass
        assert controls[0]() == 1
    assert controls[0]() == before


@pytest.mark.parametrize("shape, axis", [((50_000,), 0), ((300, 500), 1), ((500, 300), 0), ((7, 300, 20), 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_running_sums_are_numpys_in_double_precision(shape, axis, dtype):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    expected = np.cumsum(x, axis, np.float64).astype(dtype)
    np.testing.assert_array_equal(scan.cumsum(x, axis), expected)
