"""NumPy multiplies the whole matrices, and each thread takes its element."""

from numba import cuda

FAILS = "test_words_are_shared"
SAYS = "0 reads of a"
TILE = 4


@cuda.jit
def matmul(out, a, b):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = (a._array @ b._array)[row, column]
