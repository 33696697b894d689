"""NumPy's sum of the whole arrays, which no thread of a GPU can see."""

from numba import cuda

FAILS = "test_one_block"
SAYS = "no thread wrote it"


@cuda.jit
def add(out, x, y):
    out._array[...] = x._array + y._array
