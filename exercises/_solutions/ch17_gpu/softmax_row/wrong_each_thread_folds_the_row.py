"""Right without shared memory: every thread walks over the whole row for the maximum and for the sum."""

import math

from numba import cuda

FAILS = "test_threads_share_the_row"
SAYS = "three times at most"
THREADS = 4


@cuda.jit
def softmax(out, x):
    row, thread = cuda.blockIdx.x, cuda.threadIdx.x
    largest, total = -math.inf, 0.0
    for i in range(x.shape[1]):
        largest = max(largest, x[row, i])
    for i in range(x.shape[1]):
        total += math.exp(x[row, i] - largest)
    for i in range(thread, x.shape[1], THREADS):
        out[row, i] = math.exp(x[row, i] - largest) / total
