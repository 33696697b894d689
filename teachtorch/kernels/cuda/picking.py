"""gather and scatter_add: an index array says where along one dimension to read, or to add.

Several threads may add to one element at once: `cuda.atomic.add` lets each see the sum of those before. Their
order changes from run to run, and with it the last bits of a sum of floats, which is why PyTorch calls
scatter_add_ on a GPU nondeterministic.
"""

import functools

import numpy as np

from .grid import run_flat
from .pointwise import places
from .source import DeviceTranslator, load_kernel

# p0 walks the index, p1 what has its shape, p2 the other array, all dimensions of it but the indexed one.
KERNEL = """
@cuda.jit
def kernel(index, same, other, size, length, step, bad, {numbers}):
    for n in range(cuda.grid(1), size, cuda.gridsize(1)):
{places}
        chosen = index[p0]
        if chosen < 0 or chosen >= length:
            bad[0] = 1
        else:
            {action}
"""

ACTIONS = {
    "gather": "same[p1] = other[p2 + chosen * step]",
    "scatter_add": "cuda.atomic.add(other, p2 + chosen * step, same[p1])",
}


def run(action, index, same, other, dim, bad, stream=0):
    """Read `same` from `other`, or add it there, at the places that `index` names along `dim`.

    Args:
        action: gather or scatter_add.
        index: a Strided of int64. `same`, of its shape or larger; `other`, with as many dimensions.
        bad: a device array of one int32, which becomes 1 if an index is out of range; such elements are left
        out.
    """
    steps = [index.strides, same.strides, [0 if d == dim else step for d, step in enumerate(other.strides)]]
    numbers = [np.int64(each) for each in (*index.shape, *[step for walk in steps for step in walk])]
    kernel = compiled(action, len(index.shape))
    limits = np.int64(index.size), np.int64(other.shape[dim]), np.int64(other.strides[dim])
    run_flat(kernel, index.size, stream, index.memory, same.memory, other.memory, *limits, bad, *numbers)


@functools.lru_cache(maxsize=None)
def compiled(action, ndim):
    numbers = [f"size{d}" for d in range(ndim)] + [f"step{k}_{d}" for k in range(3) for d in range(ndim)]
    text = KERNEL.format(numbers=", ".join(numbers), places=places(range(3), ndim), action=ACTIONS[action])
    return load_kernel(action, DeviceTranslator(np.float32), text)
