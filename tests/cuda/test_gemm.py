"""What cuBLAS is asked for each layout of operands: its definition, in NumPy, computes the product."""

import itertools

import numpy as np
import pytest

from teachtorch.kernels.cuda import gemm
from teachtorch.kernels.cuda.arrays import Strided


def column_major(memory, ld, rows, columns):
    """cuBLAS's matrix: element (i, j) at i + j * ld."""
    assert ld >= max(rows, 1)
    places = np.arange(rows)[:, None] + ld * np.arange(columns)[None]
    return memory[places] if places.size else np.zeros(places.shape)


def gemm_strided_batched(call, memories, out):
    """cublasDgemmStridedBatched with alpha = 1 and beta = 0, from its documentation."""
    for i in range(call.batch):
        operands = []
        for name, transposed, ld, stride, rows, columns in (
            (call.first, call.transa, call.lda, call.stride_a, call.m, call.k),
            (call.second, call.transb, call.ldb, call.stride_b, call.k, call.n),
        ):
            memory = memories[name][i * stride :]
            stored = (columns, rows) if transposed else (rows, columns)
            matrix = column_major(memory, ld, *stored)
            operands.append(matrix.T if transposed else matrix)
        places = np.arange(call.m)[:, None] + call.ldc * np.arange(call.n)[None] + i * call.stride_c
        assert call.ldc >= max(call.m, 1)
        out[places] = operands[0] @ operands[1]


# How (batch, rows, columns) lies in memory: the order of the dimensions, outermost first; more room than it
# needs; whether all of the batch is one matrix; how far apart neighbours are.
LAYOUTS = {
    "rows": ((0, 1, 2), 0, False, 1),
    "columns": ((0, 2, 1), 0, False, 1),
    "rows with a margin": ((0, 1, 2), 3, False, 1),
    "columns with a margin": ((0, 2, 1), 2, False, 1),
    "batch within": ((1, 0, 2), 0, False, 1),
    "one for all": ((0, 1, 2), 0, True, 1),
    "every other": ((0, 1, 2), 0, False, 2),
    "batch innermost": ((1, 2, 0), 0, False, 1),
}
FITS = [name for name in LAYOUTS if name not in ("every other", "batch innermost")]


def lie(rng, shape, layout):
    """(Strided over NumPy memory, the same as a NumPy view) of random numbers."""
    order, margin, is_one, step = LAYOUTS[layout]
    strides, sizes = [0, 0, 0], [1 if is_one and d == 0 else size for d, size in enumerate(shape)]
    for d in reversed(order):
        strides[d] = step
        step *= sizes[d] + (margin if d == order[-1] else 0)
    memory = rng.standard_normal(step + 5)
    if is_one:
        strides[0] = 0
    view = np.lib.stride_tricks.as_strided(memory, shape, [8 * s for s in strides])
    return Strided(memory, shape, strides), view


SIZES = [(2, 3, 4, 5), (1, 1, 4, 5), (3, 3, 1, 2), (2, 4, 3, 1), (1, 1, 1, 1), (2, 1, 1, 3), (2, 5, 1, 1)]


@pytest.mark.parametrize("size", SIZES)
def test_every_pair_of_layouts(size):
    rng = np.random.default_rng(np.random.SeedSequence().entropy)
    batch, rows, depth, columns = size
    for layouts in itertools.product(
        LAYOUTS, LAYOUTS, ["rows", "columns", "rows with a margin", "batch within"]
    ):
        a, left = lie(rng, (batch, rows, depth), layouts[0])
        b, right = lie(rng, (batch, depth, columns), layouts[1])
        out, found = lie(rng, (batch, rows, columns), layouts[2])
        call = gemm.call_for(out, a, b)
        if call is None:
            assert not set(layouts) <= set(FITS), layouts
            continue
        untouched = out.memory.copy()
        gemm_strided_batched(call, {"a": a.memory, "b": b.memory}, out.memory)
        np.testing.assert_allclose(found, left @ right, err_msg=str(layouts))
        found[...] = np.lib.stride_tricks.as_strided(untouched, found.shape, found.strides)
        np.testing.assert_array_equal(out.memory, untouched, "written outside the result")


def matrix(shape, strides, dtype=np.float32):
    return Strided(np.zeros(1000, dtype), shape, strides)


def test_the_words_of_the_usual_product():
    """Row-major (3, 4) @ (4, 5): out^T = b^T @ a^T, all column-major and nothing transposed."""
    call = gemm.call_for(
        matrix((1, 3, 5), (15, 5, 1)), matrix((1, 3, 4), (12, 4, 1)), matrix((1, 4, 5), (20, 5, 1))
    )
    assert call[:6] == ("b", "a", gemm.NORMAL, gemm.NORMAL, 5, 3)
    assert (call.k, call.lda, call.ldb, call.ldc) == (4, 5, 4, 5)
    call = gemm.call_for(
        matrix((1, 3, 5), (15, 5, 1)), matrix((1, 3, 4), (12, 4, 1)), matrix((1, 4, 5), (20, 1, 4))
    )
    assert (call.transa, call.lda) == (gemm.TRANSPOSED, 4)


def test_what_cublas_cannot():
    plain = matrix((1, 3, 3), (9, 3, 1))
    assert gemm.call_for(plain, plain, plain) is not None
    whole = matrix((1, 3, 3), (9, 3, 1), np.int64)
    assert gemm.call_for(whole, whole, whole) is None
    assert gemm.call_for(plain, matrix((1, 3, 3), (9, 6, 2)), plain) is None
    assert gemm.call_for(plain, matrix((1, 3, 3), (0, 0, 1)), plain) is None, "rows that are all one"
    assert gemm.call_for(plain, plain, matrix((1, 3, 3), (0, 1, 0))) is None
    assert gemm.call_for(plain, matrix((1, 3, 0), (0, 1, 1)), matrix((1, 0, 3), (0, 3, 1))) is None
    assert gemm.call_for(matrix((1, 3, 3), (9, 2**31, 1)), plain, plain) is None, "more than 32 bits"


class FakeLibrary:
    def __init__(self):
        self.calls = []

    def run(self, call, out, a, b, stream):
        self.calls.append((call, stream))


def test_the_library_is_asked_where_it_is_there_and_can(monkeypatch):
    library, tiled = FakeLibrary(), []
    monkeypatch.setattr(gemm, "library", lambda: library)
    monkeypatch.setattr(gemm.matmul, "run", lambda *args, stream: tiled.append(stream))
    plain, strange = matrix((1, 3, 3), (9, 3, 1)), matrix((1, 3, 3), (9, 6, 2))
    gemm.multiply(plain, plain, plain, 7)
    assert [stream for _, stream in library.calls] == [7] and not tiled
    gemm.multiply(plain, strange, plain, 8)
    assert len(library.calls) == 1 and tiled == [8]
    nothing = matrix((1, 0, 3), (0, 3, 1))
    gemm.multiply(nothing, matrix((1, 0, 3), (0, 3, 1)), plain, 9)
    assert len(library.calls) == 1 and tiled == [8]
    monkeypatch.setattr(gemm, "library", lambda: None)
    gemm.multiply(plain, plain, plain, 10)
    assert tiled == [8, 10]
