"""Functions of one element over strided arrays that broadcast."""

import functools

import numpy as np

from .arrays import collapsed
from .grid import run_flat
from .source import DeviceTranslator, load_kernel

KERNEL = """
@cuda.jit
def kernel(out, {arrays}, size, {numbers}):
    for n in range(cuda.grid(1), size, cuda.gridsize(1)):
{places}
        out[p0] = {function}({elements})
"""


def run(function, out, operands, stream=0):
    """Fill `out` with the function of the operands.

    Args:
        function: a one-element function, or a Pointwise, which stands for its.
        out: a Strided, whose shape the operands broadcast to. It may be one of the operands.
        operands: Strided arrays and NumPy scalars of one dtype, a condition may be bool.
        stream: a stream of numba.cuda.
    """
    arrays = [each for each in operands if not isinstance(each, np.generic)]
    shape, steps = collapsed(out.shape, [out.strides, *[each.broadcast(out.shape) for each in arrays]])
    pattern = "".join(["n" if isinstance(each, np.generic) else "a" for each in operands])
    kernel = compiled(getattr(function, "scalar", function), operands[-1].dtype, pattern, len(shape))
    passed = [each if isinstance(each, np.generic) else each.memory for each in operands]
    numbers = [np.int64(each) for each in (*shape, *[step for walk in steps for step in walk])]
    run_flat(kernel, out.size, stream, out.memory, *passed, np.int64(out.size), *numbers)


@functools.lru_cache(maxsize=None)
def compiled(function, dtype, pattern, ndim):
    """The kernel for operands of a dtype. `pattern`: for each, `a` for an array, `n` for a number."""
    translator = DeviceTranslator(dtype)
    name = translator.add(function)
    walked = range(pattern.count("a") + 1)
    elements, place = [], 0
    for k, letter in enumerate(pattern):
        place += letter == "a"
        elements.append(f"a{k}[p{place}]" if letter == "a" else f"a{k}")
    numbers = [f"size{d}" for d in range(ndim)] + [f"step{k}_{d}" for k in walked for d in range(ndim)]
    text = KERNEL.format(
        arrays=", ".join(f"a{k}" for k in range(len(pattern))), numbers=", ".join(numbers), function=name,
        places=places(walked, ndim), elements=", ".join(elements))
    return load_kernel("pointwise", translator, text)


def places(walked, ndim, indent=8):
    """Lines that turn the number `n` of an element into its place `p{k}` in each array, last dimension first."""
    lines = ["rest = n", *[f"p{k} = 0" for k in walked]]
    for d in reversed(range(ndim)):
        lines.append(f"at{d} = rest % size{d}" if d else "at0 = rest")
        lines += [f"p{k} += at{d} * step{k}_{d}" for k in walked]
        if d:
            lines.append(f"rest //= size{d}")
    return "\n".join([" " * indent + line for line in lines])
