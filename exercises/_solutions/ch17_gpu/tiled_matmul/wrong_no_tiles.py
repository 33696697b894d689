"""Right without shared memory: each thread reads a row and a column."""

from numba import cuda

FAILS = "test_words_are_shared"
SAYS = "from shared memory"
TILE = 4


@cuda.jit
def matmul(out, a, b):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        out[row, column] = total
