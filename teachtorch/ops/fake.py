"""`Fake`: what a result looks like, without its data. Fake rules return it; the meta kernels make tensors of it."""
import numpy as np

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


def stand_in(t):
    """An array of a tensor's shape and dtype, all zeros, for checks that ask arrays for shapes."""
    return np.broadcast_to(np.zeros((), t._dtype.numpy), t._shape)


def require_tensor(value, operator, argument, position=1):
    """PyTorch's TypeError for an argument that must be a tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{operator}(): argument '{argument}' (position {position}) must be Tensor, "
                        f"not {type(value).__name__}")
