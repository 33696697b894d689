"""Each thread divides by the sum of its own part."""

import math

from numba import cuda, float32

FAILS = "test_rows_sum_to_one"
SAYS = "of the row"

THREADS = 4        # of a block, a power of 2


@cuda.jit
def softmax(out, x):
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
    for i in range(thread, x.shape[1], THREADS):
        out[row, i] = math.exp(x[row, i] - largest) / total
