"""No look at the size: the last block touches what is behind the end."""

from numba import cuda

FAILS = "test_more_threads_than_elements"
SAYS = "outside the shape"


@cuda.jit
def add(out, x, y):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    out[i] = x[i] + y[i]
