"""The guard lets one thread too many in."""

from numba import cuda

FAILS = "test_one_element_too_few"
SAYS = "outside the shape"


@cuda.jit
def add(out, x, y):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i <= out.size:
        out[i] = x[i] + y[i]
