"""Right, but without help: thread 0 reads and adds everything."""

from numba import cuda

FAILS = "test_threads_share"
SAYS = "1 threads read x"
THREADS = 8


@cuda.jit
def block_sum(out, x):
    if cuda.threadIdx.x == 0:
        first = cuda.blockIdx.x * THREADS
        total = 0.0
        for i in range(first, min(first + THREADS, x.size)):
            total += x[i]
        out[cuda.blockIdx.x] = total
