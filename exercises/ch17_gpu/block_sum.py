"""A sum in shared memory: each block adds up THREADS elements.

Block b is given the elements b * THREADS to (b + 1) * THREADS - 1, one per thread; the last block may have
fewer, and what is missing counts as 0. The sum of block b goes to out[b]. Inside a block, a tree:

    shared = [a b c d e f g h]
    half 4:  a+e b+f c+g d+h         each of the first 4 threads adds the one half away
    half 2:  a+e+c+g b+f+d+h
    half 1:  the sum, in shared[0]

What one thread wrote another may read only behind `cuda.syncthreads()`, to which all threads of the block
must come.
"""

from numba import cuda, float32

THREADS = 8        # of a block, a power of 2


@cuda.jit
def block_sum(out, x):
    """out[b] = the sum of block b's part of x."""
    raise NotImplementedError
