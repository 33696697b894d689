"""Making tensors: from data, filled, ranges."""
import numpy as np

from ..core import dtype as dt
from ..core import geometry, settings
from ..core.device import as_device
from ..tensor import Tensor, array_of, from_array
from .declare import factory, operator, publish
from .fake import Fake, like_self


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new leaf tensor with a copy of `data` (numbers, nested sequences, arrays, tensors).

    Python floats take the default dtype, ints int64; arrays keep their dtype.
    """
    if isinstance(data, Tensor):
        array = np.array(array_of(data))
    else:
        array = array_from_data(data)
    if dtype is not None:
        array = array.astype(dtype.numpy)
    made = from_array(array)
    return made.requires_grad_() if requires_grad else made


def array_from_data(data):
    array = np.array(data)
    if not isinstance(data, (np.ndarray, np.generic)) and array.dtype == np.float64:
        array = array.astype(settings.default_dtype.numpy)
    return array


publish("tensor", tensor, ("",))


def from_numpy(ndarray):
    """A tensor over the same memory as `ndarray`."""
    return from_array(ndarray)


publish("from_numpy", from_numpy, ("",))


def fake_filled(size, dtype=None):
    return Fake(size, dtype or settings.default_dtype)


@factory("zeros", fake=fake_filled)
def zeros(*size, dtype=None):
    """Zeros of the given size."""
    return np.zeros(size, (dtype or settings.default_dtype).numpy)


@factory("ones", fake=fake_filled)
def ones(*size, dtype=None):
    """Ones of the given size."""
    return np.ones(size, (dtype or settings.default_dtype).numpy)


@operator("new_ones", fake=lambda self, size: Fake(size, self._dtype), spaces=("Tensor",), out=False)
def new_ones(self, size):
    """Ones of the given size, with this tensor's dtype."""
    return np.ones(size, self.dtype)


@operator("new_zeros", fake=lambda self, size: Fake(size, self._dtype), spaces=("Tensor",), out=False)
def new_zeros(self, size):
    """Zeros of the given size, with this tensor's dtype."""
    return np.zeros(size, self.dtype)


@operator("new_empty_strided", fake=lambda self, size, stride: Fake(size, self._dtype, stride), spaces=("Tensor",),
          out=False)
def new_empty_strided(self, size, stride):
    """Uninitialised memory with the given size and dense strides, with this tensor's dtype."""
    return empty_strided_array(size, stride, self.dtype)


def empty_strided_array(size, stride, dtype):
    """An uninitialised array with the given strides in elements."""
    flat = np.empty(geometry.storage_extent(size, stride, 0), dtype)
    return np.ndarray(size, dtype, flat, 0, tuple(s * flat.itemsize for s in stride))
