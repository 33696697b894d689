"""`Fake`: what a result looks like, without its data. Fake rules return it; the meta kernels make tensors of it."""
import numpy as np

from ..core import geometry
from ..tensor import Tensor, stride_of


class Fake:
    """A result's shape, dtype and stride (None: contiguous)."""

    __slots__ = ("shape", "dtype", "stride")

    def __init__(self, shape, dtype, stride=None):
        self.shape = tuple(shape)
        self.dtype = dtype
        self.stride = stride

    def __repr__(self):
        return f"Fake({list(self.shape)}, {self.dtype})"


def like_self(self, *args):
    """The fake rule of operators whose result looks like their first argument."""
    return Fake(self._shape, self._dtype, stride_of(self))


def preserved_stride(t):
    """The strides of a dense copy of `t`: in the order of the original's."""
    return geometry.preserve_format_strides(t._shape, stride_of(t))


def preserved_like(t):
    """A Fake like a dense copy of `t`."""
    return Fake(t._shape, t._dtype, preserved_stride(t))


def stand_in(t):
    """An array of a tensor's shape and dtype, all zeros, for checks that ask arrays for shapes."""
    return np.broadcast_to(np.zeros((), t._dtype.numpy), t._shape)


def require_tensor(value, operator, argument, position=1):
    """PyTorch's TypeError for an argument that must be a tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{operator}(): argument '{argument}' (position {position}) must be Tensor, "
                        f"not {type(value).__name__}")
