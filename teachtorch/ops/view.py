"""View operations: another geometry over the same storage. The arithmetic is in core/geometry/."""

import numpy as np

from ..core import dtype as dt
from ..core import geometry, observer
from ..core.layout import contiguous_format
from ..dispatch.operator import COMPOSITE_EXPLICIT, Operator, registry
from ..dispatch.state import state
from ..tensor import Tensor, entries_of, storage_of, stride_of
from .declare import LINEAR, composite, describe, finish, operator, publish, view, view_kernel
from .fake import Fake
from .node_names import name_node
from .signature import positional
from .arguments import as_sizes, method_of_sizes, size_argument, sizes_by_name


def geometry_of(t):
    """(shape, stride, offset) of a tensor."""
    return t._shape, stride_of(t), t._offset


def publish_sized(name, argument, function=True):
    """The method `t.name(2, 3)` and the function `name(t, (2, 3))` of a view that takes one tuple."""
    op = registry[name]
    doc = op.info.function.__doc__
    direct = op.info.function if op.info.kind == "composite" else None
    op.info.public = publish(name, method_of_sizes(op, argument, doc, direct), ("Tensor",))
    if function:
        publish(name, function_of_sizes(op, argument, doc), ("",))


def function_of_sizes(op, argument, doc):
    scope = {"_op": op, "_size_argument": size_argument}
    exec(f"def {op.name}(input, {argument}):\n"
         f"    return _op(input, _size_argument({argument}, {op.name!r}, {argument!r}, 2))", scope)
    scope[op.name].__doc__ = doc
    return scope[op.name]


def untracked_view(name, vjp=None):
    """Declare an operator that shares memory with its input, but that autograd does not treat as a view."""
    def declare(function):
        info = describe(name, "view", function, vjp, LINEAR if vjp else None, None, False, False)
        op = Operator(name, info)
        op.register(COMPOSITE_EXPLICIT, view_kernel(positional(function, info.signature)))
        return finish(op, info, ())
    return declare


# ---- order of dimensions -------------------------------------------------------------------------

@view("transpose", vjp={"self": lambda grad, dim0, dim1: grad.transpose(dim0, dim1)})
def transpose(self, dim0, dim1):
    """The tensor with two dimensions swapped."""
    return geometry.transpose(self._shape, stride_of(self), self._offset, dim0, dim1)


@composite("swapaxes")
def swapaxes(self, axis0, axis1):
    """NumPy's name of `transpose`."""
    return self.transpose(axis0, axis1)


@composite("swapdims")
def swapdims(self, dim0, dim1):
    """Another name of `transpose`."""
    return self.transpose(dim0, dim1)


@view("t", vjp={"self": lambda grad: grad.t()}, arrays={"self": lambda grad: grad.T})
def t(self):
    """The transpose of a matrix; tensors of fewer dimensions as they are."""
    return geometry.t(self._shape, stride_of(self), self._offset)


@view("permute", vjp={"self": lambda grad, dims: grad.permute(inverse_order(dims))}, spaces=())
def permute(self, dims):
    """The dimensions in the order `dims`."""
    return geometry.permute(self._shape, stride_of(self), self._offset, dims)


def inverse_order(dims):
    """The order that undoes a permutation."""
    count = len(dims)
    inverse = [0] * count
    for place, dim in enumerate(dims):
        inverse[dim % count] = place
    return tuple(inverse)


publish_sized("permute", "dims")


@composite("movedim")
def movedim(self, source, destination):
    """The dimensions `source` (int or tuple) moved to the places `destination`, the others in order."""
    ndim = len(self._shape)
    source = tuple(source) if isinstance(source, (tuple, list)) else (source,)
    destination = tuple(destination) if isinstance(destination, (tuple, list)) else (destination,)
    order = geometry.movedim_order(ndim, source, destination)
    return self.permute(order) if order else registry["alias"](self)


@composite("moveaxis")
def moveaxis(self, source, destination):
    """NumPy's name of `movedim`."""
    return self.movedim(source, destination)


@composite("numpy_T", spaces=())
def numpy_T(self):
    """All dimensions reversed; deprecated for other than 2 dimensions."""
    if len(self._shape) == 2:
        return _permute(self, (1, 0))
    geometry.numpy_T(*geometry_of(self))
    return _permute(self, tuple(range(len(self._shape) - 1, -1, -1)))


_permute = registry["permute"]


@composite("matrix_H", spaces=())
def matrix_H(self):
    """The transpose of a matrix (its conjugate, for complex ones)."""
    geometry.H(*geometry_of(self))
    return self.transpose(0, 1) if self._shape else self


@composite("mT", spaces=())
def mT(self):
    """The last two dimensions swapped."""
    geometry.mT(*geometry_of(self))
    return self.transpose(-2, -1) if self._shape else self


@composite("mH", spaces=())
def mH(self):
    """The last two dimensions swapped (and conjugated, for complex tensors)."""
    geometry.mT(*geometry_of(self), "mH")
    return self.transpose(-2, -1) if self._shape else self


@composite("adjoint")
def adjoint(self):
    """The last two dimensions swapped (and conjugated, for complex tensors)."""
    if len(self._shape) == 1:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return self.transpose(-2, -1) if self._shape else self


for _name, _operator in (("T", "numpy_T"), ("H", "matrix_H"), ("mT", "mT"), ("mH", "mH")):
    _info = registry[_operator].info
    setattr(Tensor, _name, property(_info.public, doc=_info.function.__doc__))


# ---- shape ---------------------------------------------------------------------------------------

@view("view", vjp={"self": lambda grad, self_shape: grad.reshape(self_shape)}, spaces=())
def view_(self, size):
    """The same elements with another shape, if the strides allow it; one size may be -1."""
    return geometry.view(self._shape, stride_of(self), self._offset, size)


@untracked_view("view_dtype")
def view_dtype(self, dtype):
    """The same bytes read as another dtype. No gradient flows through bits: to autograd it is no view."""
    old, new = self._dtype.itemsize, dtype.itemsize
    return *geometry.view_as_dtype(self._shape, stride_of(self), self._offset, old, new), dtype


_view, _view_dtype = registry["view"], registry["view_dtype"]


def view_method(self, *size, dtype=None, **named):
    """The same elements with another shape, or the same bytes as another dtype.

    `size`: ints, one of which may be -1; or a dtype. RuntimeError where the strides do not allow it.
    """
    if named:
        size = sizes_by_name(size, named, "view", "size")
    if dtype is None and len(size) == 1 and isinstance(size[0], dt.dtype):
        dtype = size[0]
    if dtype is not None:
        return _view_dtype(self, dtype)
    if not size:
        raise TypeError("view() received an invalid combination of arguments - got (), but expected one of:\n"
                        " * (torch.dtype dtype)\n * (tuple of ints size)\n")
    return call_view(self, as_sizes(size, "view"))


def call_view(t, size):
    """The operator `view`, whose only tensor is `t`."""
    keys = (t._keys | state.included) & ~state.excluded
    if observer.active:
        return _view._observed(keys, (t, size))
    return (_view._chosen.get(keys) or _view.choose(keys))(keys, t, size)


_view.info.public = publish("view", view_method, ("Tensor",))


@composite("view_as", spaces=("Tensor",))
def view_as(self, other):
    """This tensor viewed with the shape of `other`."""
    return _view(self, other._shape)


@untracked_view("_unsafe_view", vjp={"self": lambda grad, self_shape: grad.reshape(self_shape)})
def unsafe_view(self, size):
    """`view` of a fresh copy that nobody else holds: not a view to autograd."""
    return geometry.view(self._shape, stride_of(self), self._offset, size)


copies = []  # while something stands here, a tensor that is not contiguous is copied: a trace will see other strides


@composite("reshape", spaces=())
def reshape(self, shape):
    """The same elements with another shape: a view where possible, a copy otherwise; one size may be -1."""
    old = self._shape
    if stride_of(self) == geometry.contiguous_strides(old):
        return call_view(self, shape)
    if entries_of(self) is not None:
        raise RuntimeError("reshape is not implemented for sparse tensors")
    shape = geometry.infer_size(shape, geometry.numel(old))
    if copies or geometry.view_strides(old, stride_of(self), shape) is None:
        return _unsafe_view(self.clone(memory_format=contiguous_format), shape)
    return call_view(self, shape)


_unsafe_view = registry["_unsafe_view"]


publish_sized("reshape", "shape")


@composite("reshape_as", spaces=("Tensor",))
def reshape_as(self, other):
    """This tensor reshaped to the shape of `other`."""
    return self.reshape(other._shape)


@composite("flatten")
def flatten(self, start_dim=0, end_dim=-1):
    """The dimensions from `start_dim` to `end_dim` merged into one; a vector as it is."""
    shape = geometry.flatten_shape(self.shape, start_dim, end_dim)
    return self if len(shape) == len(self._shape) else self.reshape(shape)


@composite("ravel")
def ravel(self):
    """All elements in one dimension."""
    return self.contiguous().view(-1)


@composite("unflatten")
def unflatten(self, dim, sizes):
    """One dimension split into several, whose sizes (one may be -1) multiply to its size."""
    sizes = size_argument(sizes, "unflatten", "sizes")
    return self.view(geometry.unflatten_shape(self._shape, dim, sizes))


@view("expand", vjp={"self": lambda grad: grad}, spaces=())
def expand(self, size):
    """Dimensions of size 1 stretched to `size`, with stride 0; -1 keeps a size. New ones go in front."""
    return geometry.expand(self._shape, stride_of(self), self._offset, size)


publish_sized("expand", "size", function=False)


@composite("expand_as", spaces=("Tensor",))
def expand_as(self, other):
    """This tensor expanded to the shape of `other`."""
    return self.expand(other._shape)


@composite("broadcast_to", spaces=())
def broadcast_to(self, size):
    """This tensor expanded to `size`."""
    return self.expand(size)


publish_sized("broadcast_to", "size")


@view("squeeze", vjp={"self": lambda grad, self_shape: grad.reshape(self_shape)}, spaces=())
def squeeze_all(self):
    """Without all dimensions of size 1."""
    return geometry.squeeze(*geometry_of(self))


@view("squeeze.dim", vjp={"self": lambda grad, self_shape: grad.reshape(self_shape)}, spaces=())
def squeeze_dim(self, dim):
    """Without dimension `dim`, if its size is 1."""
    return geometry.squeeze(*geometry_of(self), dim)


@view("squeeze.dims", vjp={"self": lambda grad, self_shape: grad.reshape(self_shape)}, spaces=())
def squeeze_dims(self, dim):
    """Without those of the dimensions `dim` that have size 1."""
    return geometry.squeeze(*geometry_of(self), tuple(dim))


_squeezes = [registry[name] for name in ("squeeze", "squeeze.dim", "squeeze.dims")]
name_node("squeeze.dim", "SqueezeBackward1")
name_node("squeeze.dims", "SqueezeBackward2")


def squeeze(input, dim=None):
    """Without all dimensions of size 1, or those of `dim` (int or tuple) that have it."""
    if dim is None:
        return _squeezes[0](input)
    return _squeezes[2 if isinstance(dim, (tuple, list)) else 1](input, dim)


publish("squeeze", squeeze, ("", "Tensor"))
for _op in _squeezes:
    _op.info.public = squeeze


@view("unsqueeze", vjp={"self": lambda grad, dim: grad.squeeze(dim)})
def unsqueeze(self, dim):
    """The tensor with a new dimension of size 1 before `dim`."""
    return geometry.unsqueeze(*geometry_of(self), dim)


@view("alias", vjp={"self": lambda grad: grad}, spaces=())
def alias_(self):
    """The tensor itself, as a view."""
    return geometry_of(self)


# ---- parts ---------------------------------------------------------------------------------------

@view("select", vjp={
    "self": lambda grad, self_shape, dim, index: grad.select_backward(self_shape, dim, index)})
def select(self, dim, index):
    """The slice at `index` of dimension `dim`, which goes away."""
    return geometry.select(*geometry_of(self), dim, int(index))


@view("slice", vjp={"self": lambda grad, self_shape, dim, start, end, step: grad.slice_backward(
    self_shape, dim, start, end, step)}, spaces=())
def slice_(self, dim=0, start=None, end=None, step=1):
    """Every `step`-th index of a dimension, from `start` up to `end`."""
    return geometry.slice_(self._shape, stride_of(self), self._offset, dim, start, end, step)


@composite("narrow")
def narrow(self, dim, start, length):
    """`length` consecutive indices of a dimension, from `start` on (a number or a tensor)."""
    if isinstance(start, Tensor):
        if start._shape or start._dtype.is_floating_point or start._dtype is dt.bool:
            raise RuntimeError("start must be an 0-dim integral Tensor.")
        start = start.item()
    geometry.narrow(*geometry_of(self), dim, start, length)
    size = self._shape[geometry.wrap_dim(dim, len(self._shape))]
    start = start + size if start < 0 else start
    return registry["slice"](self, dim, start, start + length, 1)


# ---- windows, diagonals, raw access --------------------------------------------------------------

@view("unfold", spaces=("Tensor",), vjp={
    "self": lambda grad, self_shape, dimension, size, step: grad.unfold_backward(
        self_shape, dimension, size, step)})
def unfold(self, dimension, size, step):
    """All windows of `size` along a dimension, `step` apart; a window lies along a new last dimension."""
    return geometry.unfold(*geometry_of(self), dimension, size, step)


@operator("unfold_backward", jvp=LINEAR, out=False, spaces=("Tensor",),
          fake=lambda grad_in, input_sizes, dim, size, step: Fake(input_sizes, grad_in._dtype),
          vjp={"grad_in": lambda grad, dim, size, step: grad.unfold(dim, size, step)})
def unfold_backward(grad_in, input_sizes, dim, size, step):
    """The sum, at each element, of the gradients of the windows that show it."""
    result = np.zeros(input_sizes, grad_in.dtype)
    if not input_sizes:
        return result + grad_in.sum(dtype=grad_in.dtype)
    dim %= len(input_sizes)
    windows = grad_in.shape[dim]
    for place in range(size):
        reached = slice(place, place + (windows - 1) * step + 1, step) if windows else slice(0, 0)
        result[(slice(None),) * dim + (reached,)] += grad_in[..., place]
    return result


@view("diagonal", vjp={"self": lambda grad, self_shape, offset, dim1, dim2: grad.diagonal_backward(
    self_shape, offset, dim1, dim2)})
def diagonal(self, offset=0, dim1=0, dim2=1):
    """The diagonal of two dimensions, as a new last one; `offset` counts upwards from the main diagonal."""
    return geometry.diagonal(*geometry_of(self), offset, dim1, dim2)


@operator("diagonal_backward", jvp=LINEAR, out=False, spaces=("Tensor",),
          fake=lambda grad_output, input_sizes, offset, dim1, dim2: Fake(input_sizes, grad_output._dtype),
          vjp={"grad_output": lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2)})
def diagonal_backward(grad_output, input_sizes, offset, dim1, dim2):
    """Zeros with the gradient on the diagonal."""
    result = np.zeros(input_sizes, grad_output.dtype)
    result_diagonal = strided_array(result, *geometry.diagonal(
        tuple(input_sizes), geometry.contiguous_strides(tuple(input_sizes)), 0, offset, dim1, dim2))
    result_diagonal[...] = grad_output
    return result


def strided_array(array, shape, stride, offset):
    """A view of a contiguous array's memory with another geometry, in elements."""
    if 0 in shape:
        return np.empty(shape, array.dtype)
    return np.ndarray(shape, array.dtype, array, offset * array.itemsize,
                      tuple(s * array.itemsize for s in stride))


@view("as_strided", vjp={
    "self": lambda grad, self_geometry, size, stride, storage_offset: grad.as_strided_backward(
        *self_geometry, size, stride, self_geometry[2] if storage_offset is None else storage_offset)})
def as_strided(self, size, stride, storage_offset=None):
    """Any geometry over this tensor's storage; the offset defaults to the tensor's own."""
    offset = self._offset if storage_offset is None else storage_offset
    size, stride = size_argument(size, "as_strided"), size_argument(stride, "as_strided", "stride")
    return geometry.as_strided(size, stride, offset, storage_of(self).nbytes(), self._dtype.itemsize)


def strided_adjoint(grad, base_shape, base_stride, base_offset, size, stride, storage_offset):
    """The transpose of as_strided_backward: the base's values where the view looks."""
    low, extent = common_extent(((base_shape, base_stride, base_offset), (size, stride, storage_offset)))
    storage = grad.new_zeros((extent,))
    storage.as_strided(base_shape, base_stride, base_offset - low).copy_(grad)
    return storage.as_strided(size, stride, storage_offset - low)


def common_extent(geometries):
    """(lowest position, number of elements) of the stretch of storage that the geometries reach."""
    reached = [g for g in geometries if 0 not in g[0]]
    low = min([g[2] for g in reached], default=0)
    return low, max([geometry.storage_extent(*g) for g in reached], default=0) - low


@operator("as_strided_backward", jvp=LINEAR, out=False, spaces=("Tensor",),
          vjp={"grad_output": strided_adjoint},
          fake=lambda grad_output, base_shape, base_stride, *rest: Fake(
              base_shape, grad_output._dtype, base_stride))
def as_strided_backward(grad_output, base_shape, base_stride, base_offset, size, stride, storage_offset):
    """The base's gradient from a view's, both by their geometry: elements seen several times get the sum.

    Where the base itself shows an element several times, each of its places gets an equal share.
    """
    base = tuple(base_shape), tuple(base_stride), base_offset
    seen = tuple(size), tuple(stride), storage_offset
    low, extent = common_extent((base, seen))
    storage = np.zeros(extent, grad_output.dtype)
    add_strided(storage, (*seen[:2], storage_offset - low), grad_output)
    base = (*base[:2], base_offset - low)
    if not geometry.is_non_overlapping_and_dense(*base[:2]) and overlaps(base, extent):
        counts = np.zeros(extent, grad_output.dtype)
        np.add.at(counts, positions(*base), 1)
        storage /= np.maximum(counts, 1)
    return np.copy(strided_array(storage, *base), order="K")


def add_strided(storage, view_geometry, values):
    """storage[view] += values, where the view may show an element more than once."""
    if geometry.is_non_overlapping_and_dense(*view_geometry[:2]):
        strided_array(storage, *view_geometry)[...] = values
    else:
        np.add.at(storage, positions(*view_geometry), values)


def overlaps(base, extent):
    places = positions(*base).reshape(-1)
    return len(np.unique(places)) < len(places)


def positions(shape, stride, offset):
    """The position in the storage of each element."""
    result = np.full(shape, offset)
    for dim, (size, step) in enumerate(zip(shape, stride)):
        result += (np.arange(size) * step).reshape((size,) + (1,) * (len(shape) - dim - 1))
    return result
