"""cuBLAS, called through NVIDIA's package nvmath-python, whose `bindings.cublas` has the C interface's
functions with pointers as ints. Not run on a GPU yet: written against nvmath-python 1.0.
"""

import functools
import threading

import numpy as np
from nvmath.bindings import cublas

from .direct import address_of

FUNCTIONS = {
    np.dtype(np.float32): cublas.sgemm_strided_batched,
    np.dtype(np.float64): cublas.dgemm_strided_batched,
}


def run(call, out, a, b, stream):
    """Put the product that a gemm.Call describes into Numba's stream. `out`, `a`, `b` are Strided."""
    dtype, operands = np.dtype(out.dtype), {"a": a, "b": b}
    one, zero = constants(dtype)
    cublas.set_stream(handle(), int(stream.handle) if stream else 0)
    FUNCTIONS[dtype](
        handle(), call.transa, call.transb, call.m, call.n, call.k, one.ctypes.data,
        address_of(operands[call.first].memory), call.lda, call.stride_a,
        address_of(operands[call.second].memory), call.ldb, call.stride_b, zero.ctypes.data,
        address_of(out.memory), call.ldc, call.stride_c, call.batch,
    )  # fmt: skip


_own = threading.local()


def handle():
    """This thread's handle of cuBLAS, which holds the stream; making one takes some memory of the device."""
    if not hasattr(_own, "handle"):
        _own.handle = cublas.create()
    return _own.handle


def why_not():
    """None if cuBLAS can be called, else the reason: the package is only the way to NVIDIA's library."""
    try:
        handle()
    except RuntimeError as error:
        return str(error)
    return None


@functools.cache
def constants(dtype):
    """1 and 0 on the host, which cuBLAS reads through their addresses."""
    return np.ones(1, dtype), np.zeros(1, dtype)
