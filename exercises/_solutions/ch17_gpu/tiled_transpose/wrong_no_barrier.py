"""Reads the tile before the others have filled it."""

from numba import cuda, float32

FAILS = "test_whichever_thread_runs_first"
SAYS = "no barrier between"

TILE = 4


@cuda.jit
def transpose(out, x):
    tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    first_row, first_column = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if first_row + ty < x.shape[0] and first_column + tx < x.shape[1]:
        tile[ty, tx] = x[first_row + ty, first_column + tx]
    if first_column + ty < out.shape[0] and first_row + tx < out.shape[1]:
        out[first_column + ty, first_row + tx] = tile[tx, ty]
