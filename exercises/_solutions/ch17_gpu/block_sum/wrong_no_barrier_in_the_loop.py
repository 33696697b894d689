"""One barrier in front of the loop, none within."""

from numba import cuda, float32

FAILS = "test_two_levels"
SAYS = "no barrier between"

THREADS = 8        # of a block, a power of 2


@cuda.jit
def block_sum(out, x):
    shared = cuda.shared.array(THREADS, float32)
    thread = cuda.threadIdx.x
    i = cuda.blockIdx.x * THREADS + thread
    shared[thread] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if thread < half:
            shared[thread] += shared[thread + half]
        half //= 2
    if thread == 0:
        out[cuda.blockIdx.x] = shared[0]
