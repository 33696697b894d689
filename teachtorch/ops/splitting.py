"""Views of several parts at once: unbind, split, chunk, tensor_split. The arithmetic is in core/geometry/picking.py."""

from operator import index as operator_index

from ..core import dtype as dt
from ..core import geometry
from ..dispatch.operator import registry
from ..tensor import Tensor
from .declare import composite, publish, view
from .view import geometry_of


@view("unbind", vjp={"self": lambda grads, self_shape, dim: unbind_backward(grads, self_shape, dim)},
      is_multi_output=True)
def unbind(self, dim=0):
    """The slices along a dimension, as a tuple of views."""
    return geometry.unbind(*geometry_of(self), dim)


def unbind_backward(grads, shape, dim):
    """The gradients of the slices, stacked; zeros for those that got none."""
    example = next(g for g in grads if g is not None)
    return registry["stack"]([example.new_zeros(example._shape) if g is None else g for g in grads], dim)


def split_backward(grads, shape, sizes, dim):
    """The gradients of the pieces, joined; zeros for those that got none."""
    example = next(g for g in grads if g is not None)
    dim = geometry.wrap_dim(dim, len(shape))
    parts = [example.new_zeros(shape[:dim] + (size,) + shape[dim + 1:]) if g is None else g
             for g, size in zip(grads, sizes)]
    return registry["cat"](parts, dim)


@view("split", is_multi_output=True, spaces=(), vjp={
    "self": lambda grads, self_shape, split_size, dim: split_backward(
        grads, self_shape, geometry.split_sizes(self_shape, split_size, dim), dim)})
def split_evenly(self, split_size, dim=0):
    """Pieces of `split_size` along a dimension; the last may be smaller."""
    sizes = geometry.split_sizes(self._shape, split_size, dim)
    return geometry.split(*geometry_of(self), sizes, dim)


@view("split_with_sizes", is_multi_output=True, vjp={
    "self": lambda grads, self_shape, split_sizes, dim: split_backward(grads, self_shape, split_sizes, dim)})
def split_with_sizes(self, split_sizes, dim=0):
    """Pieces of the given sizes along a dimension, as a tuple of views."""
    return geometry.split(*geometry_of(self), geometry.check_split_sizes(self._shape, split_sizes, dim), dim)


def split(tensor, split_size_or_sections, dim=0):
    """Pieces of one size (the last may be smaller), or of a list of sizes, as a tuple of views."""
    if isinstance(split_size_or_sections, (list, tuple)):
        return registry["split_with_sizes"](tensor, tuple(split_size_or_sections), dim)
    return registry["split"](tensor, operator_index(split_size_or_sections), dim)


def split_method(self, split_size, dim=0):
    """Pieces of one size (the last may be smaller), or of a list of sizes, as a tuple of views."""
    return split(self, split_size, dim)


publish("split", split, ("",))
publish("split", split_method, ("Tensor",))


@composite("chunk")
def chunk(self, chunks, dim=0):
    """At most `chunks` equal pieces of a dimension (the last may be smaller), as a tuple of views."""
    sizes = geometry.chunk_sizes(self.shape, chunks, dim)
    if not self._shape[geometry.wrap_dim(dim, len(self._shape))]:
        return registry["split_with_sizes"](self, sizes, dim)
    return registry["split"](self, sizes[0], dim)


@composite("tensor_split", spaces=())
def tensor_split(self, indices_or_sections, dim=0):
    """Pieces of a dimension: so many nearly equal ones, or cut at the given indices."""
    if not self._shape:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = geometry.wrap_dim(dim, len(self._shape))
    bounds = split_bounds(self._shape[dim], indices_or_sections)
    return tuple([registry["slice"](self, dim, start, end, 1) for start, end in bounds])


def split_bounds(size, given):
    """(start, end) of each piece that tensor_split makes."""
    if isinstance(given, Tensor):
        given = sections_of_tensor(given)
    if isinstance(given, (list, tuple)):
        cuts = [0, *[int(cut) for cut in given], size]
        return [(cuts[i], cuts[i + 1]) for i in range(len(cuts) - 1)]
    if given <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {given}")
    least, larger = divmod(size, given)
    ends = [least * (i + 1) + min(i + 1, larger) for i in range(given)]
    return list(zip([0, *ends[:-1]], ends))


def sections_of_tensor(given):
    """tensor_split's sections (0-dim) or indices (1-dim) in a tensor of int64 on the CPU."""
    if given._dtype is not dt.int64:
        raise RuntimeError("tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                           f"{dt.scalar_type_name(given._dtype)}")
    if len(given._shape) > 1:
        raise RuntimeError("tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                           f"one-dimensional tensor, but got a tensor with {len(given._shape)} dims")
    return given.tolist()


def tensor_split_(input, indices_or_sections=None, dim=0, *, indices=None, sections=None):
    """Pieces of a dimension: so many nearly equal ones, or cut at the given indices; as a tuple of views."""
    given = next((v for v in (indices_or_sections, indices, sections) if v is not None), None)
    return registry["tensor_split"](input, given, dim)


publish("tensor_split", tensor_split_, ("", "Tensor"))


@composite("hsplit")
def hsplit(self, indices_or_sections):
    """`tensor_split` along the second dimension (the first, of a vector)."""
    if not self._shape:
        raise RuntimeError("torch.hsplit requires a tensor with at least 1 dimension, but got a tensor with "
                           "0 dimensions!")
    return split_along(self, indices_or_sections, min(len(self._shape) - 1, 1), "hsplit")


@composite("vsplit")
def vsplit(self, indices_or_sections):
    """`tensor_split` along the first dimension."""
    if len(self._shape) < 2:
        raise RuntimeError("torch.vsplit requires a tensor with at least 2 dimension, but got a tensor with "
                           f"{len(self._shape)} dimensions!")
    return split_along(self, indices_or_sections, 0, "vsplit")


@composite("dsplit")
def dsplit(self, indices_or_sections):
    """`tensor_split` along the third dimension."""
    if len(self._shape) < 3:
        raise RuntimeError("torch.dsplit requires a tensor with at least 3 dimension, but got a tensor with "
                           f"{len(self._shape)} dimensions!")
    return split_along(self, indices_or_sections, 2, "dsplit")


def split_along(t, given, dim, name):
    """A number of sections must divide the size."""
    if isinstance(given, int) and (given <= 0 or t._shape[dim] % given):
        raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size of the "
                           f"dimension {t._shape[dim]} is not divisible by the split_size {given}!")
    return t.tensor_split(given, dim)
