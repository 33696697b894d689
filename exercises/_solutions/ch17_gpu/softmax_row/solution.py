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
    # solution
    shared = cuda.shared.array(THREADS, float32)
    row, thread = cuda.blockIdx.x, cuda.threadIdx.x
    largest = -math.inf
    for i in range(thread, x.shape[1], THREADS):
        largest = max(largest, x[row, i])
    shared[thread] = largest
    cuda.syncthreads()
    for k in range(THREADS):
        largest = max(largest, shared[k])
    cuda.syncthreads()
    total = 0.0
    for i in range(thread, x.shape[1], THREADS):
        total += math.exp(x[row, i] - largest)
    shared[thread] = total
    cuda.syncthreads()
    total = 0.0
    for k in range(THREADS):
        total += shared[k]
    for i in range(thread, x.shape[1], THREADS):
        out[row, i] = math.exp(x[row, i] - largest) / total
    # end of solution
