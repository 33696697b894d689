"""Sparse tensors against PyTorch: `python -m tests.benchmarks.bench_sparse`; the options are those of bench_layers."""
import numpy as np

from . import bench_layers
from .bench_layers import randn

TARGET = 3
WORKLOADS = {}


def workload(title):
    """Register a function of the library that returns the function to time."""
    def register(make):
        WORKLOADS[title] = (make, TARGET)
        return make
    return register


def entries(torch, rows, columns, count, seed=0):
    """Indices (some of them twice) and values of a sparse matrix, float32."""
    draw = np.random.default_rng(seed)
    indices = np.stack([draw.integers(0, rows, count), draw.integers(0, columns, count)])
    return torch.from_numpy(indices), randn(torch, count, seed=seed + 1)


def matrix(torch, rows=4096, columns=4096, count=100_000):
    return torch.sparse_coo_tensor(*entries(torch, rows, columns, count), (rows, columns)).coalesce()


@workload("sparse 4096x4096, 100000 entries @ dense 64")
def product(torch):
    a, b = matrix(torch), randn(torch, 4096, 64)
    return lambda: a @ b


@workload("sparse 256x256, 1000 entries @ dense 16")
def small_product(torch):
    a, b = matrix(torch, 256, 256, 1000), randn(torch, 256, 16)
    return lambda: a @ b


@workload("sparse @ dense 64, forward and backward")
def product_step(torch):
    a, b = matrix(torch), randn(torch, 4096, 64).requires_grad_()

    def step():
        b.grad = None
        (a @ b).sum().backward()
    return step


@workload("coalesce 100000 entries")
def coalesced(torch):
    indices, values = entries(torch, 4096, 4096, 100_000)
    return lambda: torch.sparse_coo_tensor(indices, values, (4096, 4096)).coalesce()


@workload("coalesce 100 entries")
def small_coalesced(torch):
    indices, values = entries(torch, 64, 64, 100)
    return lambda: torch.sparse_coo_tensor(indices, values, (64, 64)).coalesce()


@workload("to_dense of 100000 entries")
def dense(torch):
    a = matrix(torch)
    return lambda: a.to_dense()


@workload("to_sparse of 1024x1024, half zeros")
def sparse(torch):
    x = randn(torch, 1024, 1024).relu()
    return lambda: x.to_sparse()


@workload("sum of two with 100000 entries")
def added(torch):
    a, b = matrix(torch), matrix(torch)
    return lambda: a + b


@workload("SparseAdam, embedding 50000x64, 2048 rows")
def sparse_adam(torch):
    table = torch.nn.Embedding(50_000, 64, sparse=True)
    optimizer = torch.optim.SparseAdam(table.parameters())
    rows = torch.from_numpy(np.random.default_rng(0).integers(0, 50_000, 2048))

    def step():
        optimizer.zero_grad()
        table(rows).sum().backward()
        optimizer.step()
    return step


if __name__ == "__main__":
    bench_layers.main(WORKLOADS)
