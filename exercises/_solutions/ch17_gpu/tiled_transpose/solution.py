"""A transposition that reads and writes rows.

Device memory comes in rows: neighbouring threads (in x) that touch neighbouring addresses are served
together. In `out[column, row] = x[row, column]` one side always jumps. A tile in shared memory cures that: a
block reads TILE rows of x, row by row, and writes TILE rows of out, row by row; the turn is made in between,
in shared memory.

Block (bx, by) reads the tile of x whose first row is by * TILE and whose first column is bx * TILE. Threads
are (x, y), TILE of each. The matrix need not be a multiple of TILE.
"""

from numba import cuda, float32

TILE = 4


@cuda.jit
def transpose(out, x):
    """out = x.T, for x of shape (rows, columns) and out of shape (columns, rows)."""
    # solution
    tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    first_row, first_column = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    if first_row + ty < x.shape[0] and first_column + tx < x.shape[1]:
        tile[ty, tx] = x[first_row + ty, first_column + tx]
    cuda.syncthreads()
    if first_column + ty < out.shape[0] and first_row + tx < out.shape[1]:
        out[first_column + ty, first_row + tx] = tile[tx, ty]
    # end of solution
