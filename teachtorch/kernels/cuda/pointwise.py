"""Functions of one element over strided arrays that broadcast."""

import functools

import numpy as np

from .arrays import Strided, collapsed, size_of
from .grid import run_flat
from .source import DeviceTranslator, load_kernel

KERNEL = """
@cuda.jit
def kernel(out, {arrays}, size, {numbers}):
    for n in range(cuda.grid(1), size, cuda.gridsize(1)):
{places}
        out[p0] = {function}({elements})
"""


def run(function, out, operands, stream=0, dtype=None):
    """Fill `out` with the function of the operands.

    Args:
        function: a one-element function, or a Pointwise, which stands for its.
        out: a Strided, whose shape the operands broadcast to. It may be one of the operands.
        operands: Strided arrays and NumPy scalars of one dtype, a condition may be bool.
        stream: a stream of numba.cuda.
        dtype: in which to compute; arrays of other dtypes are converted as they are read.
    """
    geometries = tuple([(each.shape, each.strides) for each in operands if each.__class__ is Strided])
    pattern = "".join([letter_of(each, dtype) for each in operands])
    dtype = operands[-1].dtype if dtype is None else dtype
    kernel, numbers = prepared(
        getattr(function, "scalar", function), np.dtype(dtype), pattern, out.shape, out.strides, geometries
    )
    passed = [each.memory if each.__class__ is Strided else each for each in operands]
    run_flat(kernel, out.size, stream, out.memory, *passed, *numbers)


@functools.lru_cache(maxsize=4096)
def prepared(function, dtype, pattern, shape, strides, geometries):
    """(kernel, its numbers: elements, sizes, steps) for operands of these shapes and strides: programs ask again
    and again for the same.
    """
    walks = [Strided(None, *each).broadcast(shape) for each in geometries]
    sizes, steps = collapsed(shape, [strides, *walks])
    numbers = (size_of(shape), *sizes, *[step for walk in steps for step in walk])
    return compiled(function, dtype, pattern, len(sizes)), [np.int64(number) for number in numbers]


@functools.cache
def compiled(function, dtype, pattern, ndim):
    """The kernel that computes in a dtype. `pattern`: a letter for each operand, see `letter_of`."""
    translator = DeviceTranslator(dtype)
    name = translator.add(function)
    walked = range(len(pattern) - pattern.count("n") + 1)
    elements, place = [], 0
    for k, letter in enumerate(pattern):
        place += letter != "n"
        elements.append(element(letter, f"a{k}", place, dtype))
    numbers = [f"size{d}" for d in range(ndim)] + [f"step{k}_{d}" for k in walked for d in range(ndim)]
    text = KERNEL.format(
        arrays=", ".join(f"a{k}" for k in range(len(pattern))),
        numbers=", ".join(numbers),
        function=name,
        places=places(walked, ndim),
        elements=", ".join(elements),
    )
    return load_kernel("pointwise", translator, text)


def letter_of(operand, dtype):
    """`n` for a number, `a` for an array of the dtype, `c` for one that is converted."""
    if isinstance(operand, np.generic):
        return "n"
    return "a" if dtype is None or operand.dtype == dtype else "c"


def element(letter, array, place, dtype):
    """The text of an operand's element."""
    if letter == "n":
        return array
    if letter == "a":
        return f"{array}[p{place}]"
    return f"{array}[p{place}] != 0" if dtype == np.bool_ else f"np.{dtype}({array}[p{place}])"


def places(walked, ndim, indent=8):
    """Lines that turn the number `n` of an element into its place `p{k}` in each array, last dimension first."""
    lines = ["rest = n", *[f"p{k} = 0" for k in walked]]
    for d in reversed(range(ndim)):
        lines.append(f"at{d} = rest % size{d}" if d else "at0 = rest")
        lines += [f"p{k} += at{d} * step{k}_{d}" for k in walked]
        if d:
            lines.append(f"rest //= size{d}")
    return "\n".join([" " * indent + line for line in lines])
