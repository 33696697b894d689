"""A product of matrices for tensors: cuBLAS where there is one, else the tiled kernel of matmul.py.

cuBLAS has register tiles, tensor cores and a kernel for each card, kept by the vendor. It is reached through
NVIDIA's package nvmath-python (`nvmath.bindings.cublas`): see ARCHITECTURE.md, Decisions.
"""

import functools
import importlib.util
from typing import NamedTuple

import numpy as np

from . import matmul
from .grid import is_simulated

NORMAL, TRANSPOSED = 0, 1  # cublasOperation_t
DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
MOST = 2**31 - 1


def multiply(out, a, b, stream=0):
    """out = a @ b, for Strided arrays of three dimensions, of any strides.

    Args:
        out: (batch, rows, columns). a: (batch, rows, depth). b: (batch, depth, columns). All of one dtype.
    """
    call = call_for(out, a, b) if library() is not None else None
    if call is None:
        matmul.run(out, a, b, stream=stream)
    elif out.size:
        library().run(call, out, a, b, stream)


@functools.cache
def library():
    """The module that calls cuBLAS; None in the simulator, or where the package or the library is not there."""
    if is_simulated() or importlib.util.find_spec("nvmath") is None:
        return None
    from . import cublas

    return cublas if cublas.why_not() is None else None


# ---- what cuBLAS is to be asked ----------------------------------------------------------------------------


class Call(NamedTuple):
    """The arguments of cublas<T>gemmStridedBatched, after the handle, in its own words.

    cuBLAS's matrices are column-major: element (i, j) lies at i + j * ld. `first` and `second` say which of
    our operands comes as its A and which as its B.
    """

    first: str
    second: str
    transa: int
    transb: int
    m: int
    n: int
    k: int
    lda: int
    stride_a: int
    ldb: int
    stride_b: int
    ldc: int
    stride_c: int
    batch: int


def call_for(out, a, b):
    """The Call that computes out = a @ b, or None where cuBLAS cannot: for other dtypes, and for operands of
    which no dimension has the step 1, or whose elements overlap.

    A row-major matrix is, read column-major, its own transpose. So a result with rows of step 1 is computed
    as out^T = b^T @ a^T: what comes first there is b. A result with columns of step 1 needs no such turn.
    """
    if np.dtype(out.dtype) not in DTYPES:
        return None
    for target, operands in (
        (swapped(out), (("b", swapped(b)), ("a", swapped(a)))),
        (out, (("a", a), ("b", b))),
    ):
        result = layout_of(target)
        layouts = [layout_of(matrix) for _, matrix in operands]
        if result is not None and result[0] == NORMAL and None not in layouts:
            return filled(target, result[1], operands, layouts)
    return None


def filled(target, ldc, operands, layouts):
    """The Call, unless a number is too large for cuBLAS's 32 bits or there is nothing to add up."""
    ((first, left), (second, right)), ((transa, lda), (transb, ldb)) = operands, layouts
    (batch, m, n), k = target.shape, left.shape[2]
    if not k or max(m, n, k, lda, ldb, ldc, batch) > MOST:
        return None
    steps = left.strides[0], right.strides[0], target.strides[0]
    return Call(first, second, transa, transb, m, n, k, lda, steps[0], ldb, steps[1], ldc, steps[2], batch)


class Matrices(NamedTuple):
    """The geometry of a batch of matrices."""

    shape: tuple
    strides: tuple


def swapped(matrices):
    """The same memory with rows and columns exchanged."""
    (batch, rows, columns), (step, row, column) = matrices.shape, matrices.strides
    return Matrices((batch, columns, rows), (step, column, row))


def layout_of(matrices):
    """(operation, leading dimension) with which cuBLAS reads these matrices, or None.

    Normal: neighbours in a column lie next to each other, and columns `ld` apart. Transposed: the same of
    rows. The leading dimension is at least the length of what is contiguous; of a single line, any will do.
    """
    (_, rows, columns), (_, row, column) = matrices.shape, matrices.strides
    for operation, length, step, count, apart in (
        (NORMAL, rows, row, columns, column),
        (TRANSPOSED, columns, column, rows, row),
    ):
        apart = max(length, 1) if count == 1 else apart
        if (step == 1 or length == 1) and apart >= max(length, 1):
            return operation, apart
    return None
