"""Writes the tile as it was read."""

from numba import cuda, float32

FAILS = "test_one_tile"
SAYS = "the tile is to be turned"

TILE = 4


@cuda.jit
def transpose(out, x):
    tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    first_row, first_column = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if first_row + ty < x.shape[0] and first_column + tx < x.shape[1]:
        tile[ty, tx] = x[first_row + ty, first_column + tx]
    cuda.syncthreads()
    if first_column + ty < out.shape[0] and first_row + tx < out.shape[1]:
        out[first_column + ty, first_row + tx] = tile[ty, tx]
