"""Turns each tile, and leaves it where it was."""

from numba import cuda, float32

FAILS = "test_two_tiles"
SAYS = "the tiles change places"

TILE = 4


@cuda.jit
def transpose(out, x):
    tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    first_row, first_column = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if first_row + ty < x.shape[0] and first_column + tx < x.shape[1]:
        tile[ty, tx] = x[first_row + ty, first_column + tx]
    cuda.syncthreads()
    if first_row + ty < out.shape[0] and first_column + tx < out.shape[1]:
        out[first_row + ty, first_column + tx] = tile[tx, ty]
