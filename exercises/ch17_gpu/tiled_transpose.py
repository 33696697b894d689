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
    raise NotImplementedError
