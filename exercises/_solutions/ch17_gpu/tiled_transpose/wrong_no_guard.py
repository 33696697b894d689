"""Reads behind the end of the matrix."""

from numba import cuda, float32

FAILS = "test_odd_shapes"
SAYS = "outside the shape"

TILE = 4


@cuda.jit
def transpose(out, x):
    tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    first_row, first_column = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    tile[ty, tx] = x[first_row + ty, first_column + tx]
    cuda.syncthreads()
    if first_column + ty < out.shape[0] and first_row + tx < out.shape[1]:
        out[first_column + ty, first_row + tx] = tile[tx, ty]
