"""Forgets the block: all blocks do the same elements."""

from numba import cuda

FAILS = "test_several_blocks"
SAYS = "anybody's guess"


@cuda.jit
def add(out, x, y):
    i = cuda.threadIdx.x
    if i < out.size:
        out[i] = x[i] + y[i]
