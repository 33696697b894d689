"""No barrier between filling shared memory and adding."""

from numba import cuda, float32

FAILS = "test_whichever_thread_runs_first"
SAYS = "no barrier between"

THREADS = 8        # of a block, a power of 2


@cuda.jit
def block_sum(out, x):
    shared = cuda.shared.array(THREADS, float32)
    thread = cuda.threadIdx.x
    i = cuda.blockIdx.x * THREADS + thread
    shared[thread] = x[i] if i < x.size else 0.0
    half = THREADS // 2
    while half > 0:
        if thread < half:
            shared[thread] += shared[thread + half]
        cuda.syncthreads()
        half //= 2
    if thread == 0:
        out[cuda.blockIdx.x] = shared[0]
