"""Softmax of each row, in one kernel: block r has row r, its THREADS threads share it.

Three walks over the row, each thread at the places thread, thread + THREADS, ...:

1. the row's maximum, so that exp cannot overflow,
2. the sum of exp(x - maximum),
3. exp(x - maximum) / sum, written to out.

The first two end in a fold in shared memory. One shared array is enough for both, if no thread writes the
second fold into it while another still reads the first.
"""

import math

from numba import cuda, float32

THREADS = 4        # of a block, a power of 2


@cuda.jit
def softmax(out, x):
    """out[r] = the softmax of x[r], for matrices of any size."""
    raise NotImplementedError
