"""Undoing broadcasting: the one helper that all derivatives share."""
import numpy as np

from ..core import observer
from ..dispatch.state import state
from ..tensor import array_of, from_array
from .derivative import PLAIN_CPU


SMALL = 1 << 12                  # up to so many elements NumPy's own sum is as exact, and quicker to reach


def sum_to(grad, shape):
    """Sum a gradient over the dimensions that broadcasting added or stretched, back to `shape`."""
    added = len(grad._shape) - len(shape)
    dims = list(range(added)) + [i + added for i, n in enumerate(shape) if n == 1 and grad._shape[i + added] != 1]
    plain = not (state.grad_enabled or state.forward_ad or observer.active)
    if plain and grad._keys == PLAIN_CPU and grad._dtype.itemsize >= 4:
        array = array_of(grad)
        if array.size <= SMALL:
            return from_array(np.add.reduce(array, tuple(dims), keepdims=True).reshape(shape), grad._dtype)
    summed = grad.sum(dims, True)
    return summed.reshape(shape) if added else summed


def is_expandable_to(shape, wider):
    """Whether broadcasting can turn `shape` into `wider`."""
    if len(shape) > len(wider):
        return False
    return all(n in (1, m) for n, m in zip(reversed(shape), reversed(wider)))
