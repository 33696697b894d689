"""Vector addition: the first kernel of everyone.

A launch `add[blocks, threads](out, x, y)` starts blocks * threads threads. Each runs the function below, and
finds out which one it is: `cuda.threadIdx.x` in its block, `cuda.blockIdx.x` the block's number,
`cuda.blockDim.x` the threads of a block. One thread has one element to do. There may be more threads than
elements.
"""

from numba import cuda


@cuda.jit
def add(out, x, y):
    """out = x + y, for three flat arrays of one size."""
    raise NotImplementedError
