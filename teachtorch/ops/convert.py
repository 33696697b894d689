"""Copies and conversions: clone, copy_, to, contiguous."""
import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..tensor import Tensor, array_of, stride_of
from .declare import LINEAR, composite, inplace_operator, operator
from .fake import Fake, like_self


@operator("clone", vjp={"self": lambda grad: grad}, jvp=LINEAR, out=False,
          fake=lambda self, memory_format: Fake(self._shape, self._dtype,
                                                geometry.preserve_format_strides(self._shape, stride_of(self))))
def clone(self, *, memory_format=None):
    """A copy in fresh memory that gradients flow through; dense, in the stride order of the original."""
    return np.copy(self, order="K")


@inplace_operator("copy_", vjp={"self": lambda grad: grad.new_zeros(grad._shape), "src": lambda grad: grad})
def copy_(self, src, non_blocking=False):
    """Overwrite this tensor's elements with those of `src`, broadcast and converted."""
    np.copyto(self, src, casting="unsafe")


@inplace_operator("zero_", vjp={"self": lambda grad: grad.new_zeros(grad._shape)})
def zero_(self):
    """Fill with zeros."""
    self[...] = 0


@composite("contiguous")
def contiguous(self, memory_format=None):
    """This tensor if it is contiguous, else a contiguous copy."""
    if geometry.is_contiguous(self._shape, stride_of(self)):
        return self
    return self.contiguous_copy()


@operator("contiguous_copy", vjp={"self": lambda grad: grad}, jvp=LINEAR, fake=lambda self: Fake(self._shape, self._dtype),
          spaces=("Tensor",), out=False)
def contiguous_copy(self):
    """A contiguous copy."""
    return np.copy(self, order="C")


@composite("cpu", spaces=("Tensor",))
def cpu(self, memory_format=None):
    """This tensor on the CPU: itself if it is there already."""
    return self
