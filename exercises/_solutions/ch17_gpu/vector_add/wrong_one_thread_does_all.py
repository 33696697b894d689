"""A loop as on the host: the first thread does everything, the others nothing."""

from numba import cuda

FAILS = "test_each_thread_its_own"
SAYS = "one each"


@cuda.jit
def add(out, x, y):
    if cuda.grid(1) == 0:
        for i in range(out.size):
            out[i] = x[i] + y[i]
