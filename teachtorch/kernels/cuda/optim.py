"""Fused optimizer steps, from the one-element updates of ops/fused_optim.py: one launch per parameter.

PyTorch goes further and walks all parameters in one launch, with their addresses as the kernel's arguments
(aten/src/ATen/native/cuda/MultiTensorApply.cuh); a table of addresses needs pointers, which Numba does not
show to CUDA kernels.
"""

import functools

import numpy as np

from .grid import run_flat
from .source import DeviceTranslator, load_kernel

KERNEL = """
@cuda.jit
def kernel({arrays}, size, {numbers}):
    for i in range(cuda.grid(1), size, cuda.gridsize(1)):
        {results} = {function}({arguments})
"""


def run(update, arrays, numbers, stream=0):
    """Update arrays of one parameter in place.

    Args:
        update: a ListKernel of kernels/optim.py: the function of one element, and which arrays it reads and
        writes. arrays: flat device arrays of one dtype and size: the parameter, its gradient, the optimizer's
        state. numbers: of the update (learning rate, decay, ...).
    """
    dtype = np.dtype(arrays[0].dtype)
    kernel = compiled(update, dtype, len(numbers))
    size = arrays[0].size
    run_flat(kernel, size, stream, *arrays, np.int64(size), *[dtype.type(number) for number in numbers])


@functools.cache
def compiled(update, dtype, count):
    translator = DeviceTranslator(dtype)
    function = translator.add(update.function)
    numbers = [f"n{k}" for k in range(count)]
    text = KERNEL.format(
        function=function,
        arrays=", ".join(f"a{k}" for k in range(update.lists)),
        numbers=", ".join(numbers),
        results=", ".join(f"a{k}[i]" for k in update.writes),
        arguments=", ".join([f"a{k}[i]" for k in update.reads] + numbers),
    )
    return load_kernel(f"step_{update.function.__name__}", translator, text)
