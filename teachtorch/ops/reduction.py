"""Reductions over some or all dimensions."""
import numpy as np

from ..core import dtype as dt
from ..core import geometry
from .declare import LINEAR, operator
from .fake import Fake


def dims_of(dim, ndim):
    """The dimensions to reduce, counted from the front: all if `dim` is None or empty."""
    if dim is None or dim == () or dim == []:
        return tuple(range(ndim))
    return geometry.wrap_dims((dim,) if isinstance(dim, int) else tuple(dim), ndim)


def reduced_shape(shape, dims, keepdim):
    """The shape that is left after reducing `dims`."""
    if keepdim:
        return tuple(1 if i in dims else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in dims)


def restored(grad, shape, dim, keepdim):
    """A reduction's gradient with the reduced dimensions back as size 1, to broadcast against the input."""
    if keepdim or not shape:
        return grad
    return grad.reshape(reduced_shape(shape, dims_of(dim, len(shape)), True))


def sum_dtype(dtype):
    """Sums of integers and bools are int64."""
    return dtype if dtype.category == dt.FLOATING else dt.int64


def fake_sum(self, dim=None, keepdim=False, dtype=None):
    dims = dims_of(dim, len(self._shape))
    return Fake(reduced_shape(self._shape, dims, keepdim), dtype or sum_dtype(self._dtype))


@operator("sum", jvp=LINEAR, fake=fake_sum, vjp={
    "self": lambda grad, self_shape, dim, keepdim: restored(grad, self_shape, dim, keepdim).expand(self_shape)})
def sum_(self, dim=None, keepdim=False, *, dtype=None):
    """The sum of all elements, or over the dimensions `dim` (int or tuple); integers are summed as int64."""
    wanted = dtype.numpy if dtype is not None else sum_dtype(dt.from_numpy(self.dtype)).numpy
    return np.sum(self, axis=dims_of(dim, self.ndim), keepdims=keepdim, dtype=wanted)
