"""Making tensors: from data, filled, ranges."""
import numpy as np

from ..core import dtype as dt
from ..core import geometry, settings
from ..core.device import as_device
from ..tensor import from_array
from .declare import factory, operator, publish
from .fake import Fake, like_self
from .sequences import array_from_data


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new leaf tensor with a copy of `data` (numbers, nested sequences, arrays, tensors).

    Python floats take the default dtype, ints int64; arrays keep their dtype.
    """
    made = from_array(array_from_data(data, dtype))
    return made.requires_grad_() if requires_grad else made


publish("tensor", tensor, ("",))


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
