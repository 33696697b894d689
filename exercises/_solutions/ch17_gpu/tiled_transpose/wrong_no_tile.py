"""Right without shared memory: out is written along its rows, and x is read down its columns."""

from numba import cuda

FAILS = "test_reads_rows"
SAYS = "read neighbouring elements"
TILE = 4


@cuda.jit
def transpose(out, x):
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.x * TILE + ty, cuda.blockIdx.y * TILE + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = x[column, row]
