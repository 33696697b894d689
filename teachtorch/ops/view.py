"""View operations: another geometry over the same storage. The arithmetic is in core/geometry.py."""
from ..core import geometry
from ..core.geometry import numel
from ..tensor import storage_of, stride_of
from .declare import composite, view


def geometry_of(t):
    """(shape, stride, offset) of a tensor."""
    return t._shape, stride_of(t), t._offset


def capacity_of(t):
    """How many elements of the tensor's dtype fit into its storage."""
    return storage_of(t).nbytes() // t._dtype.itemsize


@view("transpose", vjp={"self": lambda grad, dim0, dim1: grad.transpose(dim0, dim1)})
def transpose(self, dim0, dim1):
    """The tensor with two dimensions swapped."""
    return geometry.transpose(*geometry_of(self), dim0, dim1)


@view("t", vjp={"self": lambda grad: grad.t()})
def t(self):
    """The transpose of a matrix; tensors of fewer dimensions as they are."""
    if len(self._shape) > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {len(self._shape)}D")
    return geometry_of(self) if len(self._shape) < 2 else geometry.transpose(*geometry_of(self), 0, 1)


@view("expand", vjp={"self": lambda grad: grad})
def expand(self, *size):
    """Dimensions of size 1 stretched to `size`, with stride 0; -1 keeps a size. New dimensions go in front."""
    return geometry.expand(*geometry_of(self), size)


@view("view", vjp={"self": lambda grad, self_shape: grad.reshape(self_shape)})
def view_(self, *size):
    """The same elements with another shape, if the strides allow it; one size may be -1."""
    return geometry.view(*geometry_of(self), size)


@view("select", vjp={"self": lambda grad, self_geometry, dim, index: grad.select_backward(self_geometry[0], dim, index)})
def select(self, dim, index):
    """The slice at `index` of dimension `dim`, which goes away."""
    return geometry.select(*geometry_of(self), dim, index)


@view("as_strided", vjp={"self": lambda grad, self_geometry, size, stride, storage_offset: grad.as_strided_backward(
    *self_geometry, size, stride, self_geometry[2] if storage_offset is None else storage_offset)})
def as_strided(self, size, stride, storage_offset=None):
    """Any geometry over this tensor's storage; the offset defaults to the tensor's own."""
    offset = self._offset if storage_offset is None else storage_offset
    return geometry.as_strided(tuple(size), tuple(stride), offset, capacity_of(self), self._dtype.itemsize)


@composite("reshape")
def reshape(input, *shape):
    """The same elements with another shape: a view where possible, a copy otherwise; one size may be -1."""
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    shape = geometry.infer_size(shape, numel(input._shape))
    if geometry.view_strides(input._shape, stride_of(input), shape) is not None:
        return input.view(shape)
    return input.contiguous().view(shape)
