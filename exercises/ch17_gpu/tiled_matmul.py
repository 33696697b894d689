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
    raise NotImplementedError
