"""Only the threads that have an element come to the first barrier."""

from numba import cuda, float32

FAILS = "test_odd_size"
SAYS = "wait at different barriers"

THREADS = 8        # of a block, a power of 2


@cuda.jit
def block_sum(out, x):
    shared = cuda.shared.array(THREADS, float32)
    thread = cuda.threadIdx.x
    i = cuda.blockIdx.x * THREADS + thread
    if i < x.size:
        shared[thread] = x[i]
        cuda.syncthreads()
    else:
        shared[thread] = 0.0
    half = THREADS // 2
    while half > 0:
        if thread < half:
            shared[thread] += shared[thread + half]
        cuda.syncthreads()
        half //= 2
    if thread == 0:
        out[cuda.blockIdx.x] = shared[0]
