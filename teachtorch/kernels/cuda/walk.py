"""One thread per element of a shape, and a few lines of text that say what it does: the frame that picking,
joining, windows and losses share.

A body of text sees

    at0, at1, ...   the element's coordinates, n its number
    p<name>         its place in the array <name>, for each array that is walked
    <name>          memory and numbers, by the names they were given
"""

import functools
import re

import numpy as np

from .arrays import size_of
from .grid import run_flat
from .pointwise import places
from .source import DeviceTranslator, load_kernel

KERNEL = """
@cuda.jit
def kernel({parameters}):
    for n in range(cuda.grid(1), size, cuda.gridsize(1)):
{places}
{body}
"""


def run(title, body, shape, walked, memory=None, numbers=None, functions=(), dtype=np.float32, stream=0):
    """Run `body` for every element of `shape`.

    Args:
        title: what the generated file is called.
        body: lines of Python, not indented.
        walked: {name: (flat device array, its step for each dimension of `shape`)}.
        memory: {name: flat device array} that the body reads and writes by places of its own.
        numbers: {name: number}; ints become int64.
        functions: one-element functions that the body calls by their names.
        dtype: in which those compute.
    """
    memory, numbers = memory or {}, numbers or {}
    kernel = compiled(
        title,
        body,
        len(shape),
        tuple(walked),
        tuple(memory),
        tuple(numbers),
        tuple(functions),
        np.dtype(dtype),
    )
    passed = [array for array, _ in walked.values()] + list(memory.values())
    values = [np.int64(each) if isinstance(each, int) else each for each in numbers.values()]
    sizes = [np.int64(each) for each in (*shape, *[step for _, steps in walked.values() for step in steps])]
    size = size_of(shape)
    run_flat(kernel, size, stream, *passed, np.int64(size), *values, *sizes)


@functools.cache
def compiled(title, body, ndim, walked, memory, numbers, functions, dtype):
    """The kernel. Its arguments: the arrays, the number of elements, the numbers, the sizes, the steps."""
    translator = DeviceTranslator(dtype)
    for function in functions:
        body = re.sub(rf"\b{function.__name__}\(", f"{translator.add(function, primitive=True)}(", body)
    sizes = [f"size{d}" for d in range(ndim)] + [f"step{name}_{d}" for name in walked for d in range(ndim)]
    text = KERNEL.format(
        parameters=", ".join([*walked, *memory, "size", *numbers, *sizes]),
        places=places(walked, ndim) if ndim else "\n".join([f"        p{name} = 0" for name in walked]),
        body="\n".join([" " * 8 + line for line in body.strip("\n").split("\n")]),
    )
    return load_kernel(title, translator, text)
