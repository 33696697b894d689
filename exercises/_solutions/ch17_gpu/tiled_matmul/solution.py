"""A matrix product with tiles: each word is brought from device memory once for TILE threads.

A block of TILE x TILE threads computes a tile of `out`; thread (x, y) its element in row y, column x. For one
tile of the depth after the other, the block brings a tile of a and one of b into shared memory, each thread
one element of both, and each thread then adds the TILE products of its row and column.

A thread whose element lies outside `out` still helps to load, and comes to every barrier. What lies outside a
or b counts as 0.
"""

from numba import cuda, float32

TILE = 4


@cuda.jit
def matmul(out, a, b):
    """out = a @ b, for a of shape (rows, depth) and b of shape (depth, columns)."""
    # solution
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
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = total
    # end of solution
