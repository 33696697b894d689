"""Products, gather and scatter, optimizer steps."""

import numpy as np
import pytest
from numba import cuda

from teachtorch.kernels.cuda import matmul, optim, picking
from teachtorch.ops import fused_optim

from .conftest import Guarded, flat, strided


@pytest.mark.parametrize("how", ["naive", "tiled"])
@pytest.mark.parametrize("shape", [(1, 5, 7, 6), (2, 3, 9, 2), (1, 1, 1, 1), (1, 4, 0, 3)])
def test_products(rng, how, shape):
    batch, rows, depth, columns = shape
    a, b = rng.standard_normal((batch, rows, depth)), rng.standard_normal((batch, depth, columns))
    out = Guarded(batch * rows * columns, np.float64)
    matmul.run(out.strided((batch, rows, columns)), strided(a), strided(b), how)
    np.testing.assert_allclose(out.result((batch, rows, columns)), a @ b)


@pytest.mark.parametrize("how", ["naive", "tiled"])
def test_products_of_transposed_and_broadcast_matrices(rng, how):
    a = rng.standard_normal((6, 5)).astype(np.float32).T[None]
    b = rng.standard_normal((2, 3, 6)).astype(np.float32).transpose(0, 2, 1)
    a = np.broadcast_to(a, (2, 5, 6))
    out = Guarded(30, np.float32)
    matmul.run(out.strided((2, 5, 3)), strided(a), strided(b), how)
    np.testing.assert_allclose(out.result((2, 5, 3)), a.astype(np.float64) @ b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_gather_and_scatter(rng, dim):
    x = rng.standard_normal((3, 4, 5))
    shape = [2, 3, 4]
    shape[dim] = 7
    index = rng.integers(0, x.shape[dim], shape)
    out, bad = Guarded(index.size, np.float64), cuda.to_device(np.zeros(1, np.int32))
    picking.run("gather", strided(index), out.strided(shape), strided(x), dim, bad)
    part = x[tuple(slice(None) if d == dim else slice(size) for d, size in enumerate(shape))]
    np.testing.assert_array_equal(out.result(shape), np.take_along_axis(part, index, dim))

    source, target = rng.standard_normal(shape), strided(x)
    picking.run("scatter_add", strided(index), strided(source), target, dim, bad)
    places = list(np.indices(shape))
    places[dim] = index
    wanted = x.copy()
    np.add.at(wanted, tuple(places), source)
    np.testing.assert_allclose(target.memory.copy_to_host().reshape(x.shape), wanted)
    assert bad.copy_to_host()[0] == 0


@pytest.mark.parametrize("wrong", [-1, 4])
def test_an_index_out_of_range_is_told_and_left_out(rng, wrong):
    x, index = rng.standard_normal(4), np.array([1, wrong, 3])
    out, bad = Guarded(3, np.float64), cuda.to_device(np.zeros(1, np.int32))
    picking.run("gather", strided(index), out.strided((3,)), strided(x), 0, bad)
    assert bad.copy_to_host()[0] == 1
    np.testing.assert_array_equal(out.result(), [x[1], np.nan, x[3]])


UPDATES = {
    "sgd": (fused_optim.sgd_kernel(False, True), (0.01, 0.1)),
    "momentum": (fused_optim.momentum_kernel(True, True, True), (0.01, 0.1, 0.9, 1.0)),
    "adamw": (fused_optim.adam_kernel(False, False, True), (0.0, 0.999, 0.1, 0.99, 0.01, 0.3, 1e-8, 0.02)),
}


@pytest.mark.parametrize("name", UPDATES)
def test_optimizer_steps_are_those_of_the_cpu(rng, name):
    update, numbers = UPDATES[name]
    arrays = [np.abs(rng.standard_normal(29)).astype(np.float32) for _ in range(update.lists)]
    on_device = [flat(array) for array in arrays]
    optim.run(update, on_device, numbers)
    assert update([[array] for array in arrays], numbers)
    for found, wanted in zip(on_device, arrays):
        np.testing.assert_allclose(found.copy_to_host(), wanted, rtol=1e-6)
