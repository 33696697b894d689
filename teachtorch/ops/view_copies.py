"""Copies of what views would show (`permute_copy`), and splits that autograd does not treat as views."""
import numpy as np

from ..core import geometry
from ..core.layout import contiguous_format
from ..dispatch.operator import registry
from ..tensor import Tensor, array_of, from_array
from .arguments import size_argument
from .convert import checked_filling, filling, filling_operator, tensor_operator
from .creation import checked_size, empty_strided
from .declare import composite, publish, taking_out
from .elementwise import shared_elements_within
from .fake import Fake
from .splitting import split_backward
from .view import geometry_of, untracked_view

# ---- splits that are no views --------------------------------------------------------------------


@untracked_view("unsafe_split", vjp={"self": lambda grads, self_shape, split_size, dim: split_backward(
    grads, self_shape, geometry.split_sizes(self_shape, split_size, dim), dim)})
def unsafe_split(self, split_size, dim=0):
    """`split` without the bookkeeping of views: for pieces that nobody changes in place."""
    sizes = geometry.split_sizes(self._shape, split_size, dim)
    return geometry.split(*geometry_of(self), sizes, dim)


@untracked_view("unsafe_split_with_sizes", vjp={
    "self": lambda grads, self_shape, split_sizes, dim: split_backward(grads, self_shape, split_sizes, dim)})
def unsafe_split_with_sizes(self, split_sizes, dim=0):
    """`split_with_sizes` without the bookkeeping of views."""
    return geometry.split(*geometry_of(self), geometry.check_split_sizes(self._shape, split_sizes, dim), dim)


for _name in ("unsafe_split", "unsafe_split_with_sizes"):
    publish(_name, registry[_name].info.public, ("", "Tensor"))


@composite("unsafe_chunk")
def unsafe_chunk(self, chunks, dim=0):
    """`chunk` without the bookkeeping of views."""
    return registry["unsafe_split"](self, geometry.chunk_sizes(self._shape, chunks, dim)[0], dim)


# ---- copies of views -----------------------------------------------------------------------------

def copied(result):
    """The view, or each of several, in fresh contiguous memory."""
    if isinstance(result, tuple):
        return tuple([copied(part) for part in result])
    return result.clone(memory_format=contiguous_format)


def copy_function(name):
    """`name_copy`: what the view `name` shows, copied."""
    view = registry[name].info.public

    def copy(input, *args, **kwargs):
        return copied(view(input, *args, **kwargs))

    copy.__name__ = copy.__qualname__ = f"{name}_copy"
    copy.__doc__ = f"A copy of what `{name}` shows."
    publish(copy.__name__, taking_out(copy), ("",))


for _name in ("alias", "as_strided", "expand", "narrow", "permute", "select", "slice", "split",
              "split_with_sizes", "squeeze", "t", "transpose", "unbind", "unfold", "unsqueeze", "view"):
    copy_function(_name)
publish("narrow_copy", lambda self, dim, start, length: copied(self.narrow(dim, start, length)), ("Tensor",))


# ---- writing into a view of a copy ---------------------------------------------------------------

def fake_as_strided_scatter(self, src, size, stride, storage_offset=None):
    size, stride = size_argument(size, "as_strided"), size_argument(stride, "as_strided", "stride")
    nbytes = self.numel() * self._dtype.itemsize
    geometry.as_strided(size, stride, storage_offset or 0, nbytes, self._dtype.itemsize)
    check_slice(tuple(size), src)
    if geometry.has_internal_overlap(tuple(size), tuple(stride)):
        raise shared_elements_within()
    return Fake(self._shape, self._dtype)


def check_slice(shape, src):
    if shape != src._shape:
        raise RuntimeError("expected src to have a size equal to the slice of self. "
                           f"src size = {list(src._shape)}, slice size = {list(shape)}")


@tensor_operator("as_strided_scatter", fake=fake_as_strided_scatter, spaces=("", "Tensor"), vjp={
    "self": lambda grad, size, stride, storage_offset: outside(grad, size, stride, storage_offset),
    "src": lambda grad, size, stride, storage_offset: grad.contiguous().as_strided(
        size, stride, storage_offset)})
def as_strided_scatter(self, src, size, stride, storage_offset=None):
    """A copy of the tensor in which the elements that `as_strided` would show are those of `src`.

    The tensor's gradient is 0 at these elements, which PyTorch 2.13 has the other way round.
    """
    result = self.detach().clone(memory_format=contiguous_format)
    target = result.as_strided(size, stride, storage_offset)
    check_slice(target._shape, src)
    target.copy_(src.detach())
    return from_array(array_of(result), self._dtype)


def outside(grad, size, stride, storage_offset):
    """The gradient where nothing was written."""
    return grad.as_strided_scatter(grad.new_zeros(size), size, stride, storage_offset)


def check_diagonal(self, fill_value, wrap=False):
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and len(set(self._shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    checked_filling(fill_value, self._dtype, "fill_diagonal_")


@filling_operator("fill_diagonal_", vjp={"self": lambda grad, wrap: grad.clone().fill_diagonal_(0, wrap)},
                  fake=check_diagonal)
def fill_diagonal_(self, fill_value, wrap=False):
    """Fill the main diagonal; `wrap`: of a tall matrix, start again below each square."""
    check_diagonal(self, fill_value, wrap)
    shape = self._shape
    array, value = array_of(self), filling(fill_value, self._dtype, "fill_diagonal_")
    rows = np.arange(min(shape))
    if wrap and len(shape) == 2:
        every = np.arange(shape[0])
        rows, columns = every[every % (shape[1] + 1) < shape[1]], every % (shape[1] + 1)
        array[rows, columns[rows]] = value
    else:
        array[(rows,) * len(shape)] = value


def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None, requires_grad=False,
                   pin_memory=False):
    """Uninitialised memory of the given size, its dimensions in memory in the order `physical_layout`."""
    size = checked_size(size_argument(size, "empty_permuted"), "empty_permuted")
    if sorted(physical_layout) != list(range(len(size))):
        raise RuntimeError("Number of dimensions in size does not match the length of the physical_layout; "
                           f"i.e. len(size) = {len(size)} is not equal to len(physical_layout) = "
                           f"{len(physical_layout)}")
    packed = geometry.contiguous_strides(tuple([size[dim] for dim in physical_layout]))
    stride = [packed[place] for _, place in sorted(zip(physical_layout, range(len(size))))]
    return empty_strided(size, tuple(stride), dtype=dtype, device=device, requires_grad=requires_grad)


publish("empty_permuted", empty_permuted, ("",))


# ---- methods that PyTorch has as functions too ---------------------------------------------------

for _name in ("zero_", "fill_"):
    publish(_name, registry[_name].info.public, ("",))
for _name in ("detach", "detach_", "resize_as_", "as_strided_"):
    publish(_name, getattr(Tensor, _name), ("",))
