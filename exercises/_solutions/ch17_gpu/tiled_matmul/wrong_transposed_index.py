"""Reads the tile of b by its rows."""

from numba import cuda, float32

FAILS = "test_one_tile"
SAYS = "row of a with column of b"

TILE = 4


@cuda.jit
def matmul(out, a, b):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = 0.0
    for start in range(0, a.shape[1], TILE):
        tile_a[ty, tx] = a[row, start + tx] if row < a.shape[0] and start + tx < a.shape[1] else 0.0
        tile_b[ty, tx] = b[start + ty, column] if start + ty < b.shape[0] and column < b.shape[1] else 0.0
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[tx, k]
        cuda.syncthreads()
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = total
