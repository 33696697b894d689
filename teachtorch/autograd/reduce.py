"""Undoing broadcasting: the one helper that all derivatives share."""
import numpy as np

from ..core import observer
from ..dispatch.state import state
from ..kernels.pointwise import silently
from ..tensor import array_of, from_array
from .on_arrays import PLAIN_CPU


SMALL = 1 << 12                  # up to so many elements NumPy's own sum is as exact, and quicker to reach


def sum_to(grad, shape):
    """Sum a gradient over the dimensions that broadcasting added or stretched, back to `shape`."""
    added = len(grad._shape) - len(shape)
    plain = not (state.grad_enabled or state.forward_ad or observer.active)
    if plain and grad._keys == PLAIN_CPU and grad._dtype.itemsize >= 4:
        array = array_of(grad)
        if array.size <= SMALL:
            return from_array(silently(array_sum_to, array, added, shape), grad._dtype)
    dims = [*range(added), *stretched(grad._shape, added, shape)]
    summed = grad.sum(dims, True)
    return summed.reshape(shape) if added else summed


def stretched(wider, added, shape):
    """The dimensions of `wider`, after the added ones, that were of size 1 in `shape`."""
    return [i + added for i, n in enumerate(shape) if n == 1 and wider[i + added] != 1]


def array_sum_to(array, added, shape):
    """The same for a small array, which NumPy sums."""
    if array.shape[added:] == shape:
        return np.asarray(np.add.reduce(array, tuple(range(added))))
    dims = (*range(added), *stretched(array.shape, added, shape))
    return np.add.reduce(array, dims, keepdims=True).reshape(shape)


def is_expandable_to(shape, wider):
    """Whether broadcasting can turn `shape` into `wider`."""
    added = len(wider) - len(shape)
    if added < 0:
        return False
    return wider[added:] == shape or all(n in (1, m) for n, m in zip(reversed(shape), reversed(wider)))
