"""Joining and repeating: cat, stack, repeat, repeat_interleave, meshgrid."""
import itertools
import warnings

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..core.layout import contiguous_format, suggested
from ..core.promotion import can_cast
from ..dispatch import keys as K
from ..dispatch.operator import registry
from ..tensor import Tensor, array_of, from_array, stride_of
from .arguments import method_of_sizes, size_argument
from .creation import beside, empty_strided_array
from .declare import LINEAR, composite, operator, publish, write_out
from .elementwise import common_dtype
from .fake import Fake

# ---- cat and stack -------------------------------------------------------------------------------


def check_tensors(tensors, name):
    """The argument of a joining operator, as a list of tensors."""
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
                        f"{type(tensors).__name__}")
    for place, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(t).__name__}")
    return list(tensors)


def is_skipped(shape):
    """cat passes over tensors of shape (0,), whatever the others' shapes."""
    return shape == (0,)


def cat_layout(tensors, dim):
    """(dim, shape) of the result. RuntimeError for shapes that do not fit."""
    shapes = [t._shape for t in tensors]
    for place, shape in enumerate(shapes):
        if not shape:
            raise RuntimeError(f"zero-dimensional tensor (at position {place}) cannot be concatenated")
    joined = [s for s in shapes if not is_skipped(s)] or shapes
    first = joined[0]
    dim = geometry.wrap_dim(dim, len(first))
    for place, shape in enumerate(shapes):
        if not is_skipped(shape):
            check_joinable(first, shape, dim, place)
    total = sum(s[dim] for s in joined)
    return dim, first[:dim] + (total,) + first[dim + 1:]


def check_joinable(first, shape, dim, place):
    if len(shape) != len(first):
        raise RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}")
    for d, (expected, size) in enumerate(zip(first, shape)):
        if d != dim and expected != size:
            raise RuntimeError(f"Sizes of tensors must match except in dimension {dim}. Expected size "
                               f"{expected} but got size {size} for tensor number {place} in the list.")


def joined_stride(tensors, shape):
    """Channels-last if all tensors are, else contiguous (None)."""
    if len(shape) not in (4, 5):
        return None
    formats = {suggested(t._shape, stride_of(t)) for t in tensors}
    if len(formats) != 1 or contiguous_format in formats:
        return None
    return geometry.channels_last_strides(shape)


def fake_cat(tensors, dim=0):
    dim, shape = cat_layout(tensors, dim)
    return Fake(shape, common_dtype(tensors), joined_stride(tensors, shape))


def cat_backward(grad, shapes, dim):
    """Each tensor's part of the gradient."""
    dim = geometry.wrap_dim(dim, len(grad._shape))
    parts, start = [], 0
    for shape in shapes:
        if is_skipped(shape):
            parts.append(grad.new_zeros(shape))
        else:
            parts.append(grad.narrow(dim, start, shape[dim]))
            start += shape[dim]
    return parts


@operator("cat", jvp=LINEAR, fake=fake_cat, spaces=(), vjp={
    "tensors": lambda grad, tensors_shape, dim: cat_backward(grad, tensors_shape, dim)})
def cat_operator(tensors, dim=0):
    """The tensors one after the other along a dimension; their dtypes are promoted."""
    raise NotImplementedError


def cat_kernel(keys, tensors, dim=0):
    """np.concatenate does it where shapes, dtypes and memory formats hold no surprise."""
    first = tensors[0]
    ndim, dtype = len(first._shape), first._dtype
    arrays = []
    for t in tensors:
        array = array_of(t)
        if len(t._shape) != ndim or t._dtype is not dtype or not array.flags.c_contiguous:
            return cat_with_care(tensors, dim)
        arrays.append(array)
    if ndim not in (1, 2, 3):
        return cat_with_care(tensors, dim)
    try:
        return from_array(np.concatenate(arrays, dim), dtype)
    except ValueError:
        return cat_with_care(tensors, dim)


def cat_with_care(tensors, dim):
    fake = fake_cat(tensors, dim)
    dim = geometry.wrap_dim(dim, len(fake.shape))
    arrays = [array_of(t) for t in tensors if not is_skipped(t._shape)]
    if fake.stride is None:
        out = np.empty(fake.shape, fake.dtype.numpy)
    else:
        out = empty_strided_array(fake.shape, fake.stride, fake.dtype.numpy)
    if arrays:
        np.concatenate(arrays, dim, out=out, casting="unsafe")
    return from_array(out, fake.dtype)


registry["cat"].register(K.CPU, cat_kernel)


def joining_function(name, op, doc):
    """`cat(tensors, dim=0, *, out=None)` with its checks."""
    def join(tensors, dim=0, *, out=None, axis=None):
        tensors, dim = check_tensors(tensors, name), dim if axis is None else axis
        if not tensors:
            raise empty_list(name)
        if out is None:
            return op(tensors, dim)
        refuse_overlap_with(out, tensors)
        refuse_lower_category(out, tensors)
        return write_out(op, out, (tensors, dim))
    join.__name__ = join.__qualname__ = name
    join.__doc__ = doc
    return publish(name, join, ("",))


def refuse_overlap_with(out, tensors):
    """The result may not be written over an input."""
    for t in tensors:
        if t is out or t.is_cpu and out.is_cpu and np.shares_memory(array_of(t), array_of(out)):
            raise RuntimeError("unsupported operation: the input tensors cannot refer to any of the output "
                               "memory locations. Found overlap in input tensor.")


def refuse_lower_category(out, tensors):
    """The inputs' common dtype must fit the result's category."""
    if not can_cast(common_dtype(tensors), out._dtype):
        raise TypeError("torch.cat(): input types can't be cast to the desired output type "
                        f"{scalar_type_name(out._dtype)}")


def empty_list(name):
    if name == "stack":
        return RuntimeError("stack expects a non-empty TensorList")
    return ValueError("torch.cat(): expected a non-empty list of Tensors")


for _name in ("cat", "concat", "concatenate"):
    cat = joining_function(_name, registry["cat"], cat_operator.__doc__)
registry["cat"].info.public = cat


def stack_layout(tensors, dim):
    first = tensors[0]._shape
    for place, t in enumerate(tensors):
        if t._shape != first:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(first)} at entry "
                               f"0 and {list(t._shape)} at entry {place}")
    dim = geometry.wrap_dim(dim, len(first) + 1)
    return dim, first[:dim] + (len(tensors),) + first[dim:]


def fake_stack(tensors, dim=0):
    return Fake(stack_layout(tensors, dim)[1], common_dtype(tensors))


@operator("stack", jvp=LINEAR, fake=fake_stack, spaces=(), vjp={
    "tensors": lambda grad, dim: list(grad.unbind(dim))})
def stack_operator(tensors, dim=0):
    """The tensors, of one shape, side by side along a new dimension; their dtypes are promoted."""
    raise NotImplementedError


def stack_kernel(keys, tensors, dim=0):
    dim, shape = stack_layout(tensors, dim)
    dtype = common_dtype(tensors)
    out = np.empty(shape, dtype.numpy)
    before = (slice(None),) * dim
    for place, t in enumerate(tensors):
        out[(*before, place)] = array_of(t)
    return from_array(out, dtype)


registry["stack"].register(K.CPU, stack_kernel)
registry["stack"].info.public = joining_function("stack", registry["stack"], stack_operator.__doc__)


def atleast(t, ndim):
    """The tensor with dimensions of size 1 added until it has `ndim`, where NumPy adds them."""
    have = len(t._shape)
    if have >= ndim:
        return t
    if not have:
        return t.reshape((1,) * ndim)
    t = t.unsqueeze(0) if have == 1 and ndim > 1 else t
    return t.unsqueeze(-1) if ndim == 3 else t


def atleast_function(ndim):
    name = f"atleast_{ndim}d"

    def function(*tensors):
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return atleast(tensors[0], ndim)
        given = tensors[0] if len(tensors) == 1 else tensors
        return tuple([atleast(t, ndim) for t in given])
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The tensor, or each of several, with at least {ndim} dimension{'s' * (ndim > 1)}."
    publish(name, function, ("",))


for _ndim in (1, 2, 3):
    atleast_function(_ndim)


def stacking_function(name, doc, prepare, dim):
    """hstack and its like: cat along a dimension of tensors with enough dimensions."""
    def function(tensors, *, out=None):
        tensors = check_tensors(tensors, name)
        if not tensors:
            raise RuntimeError(f"{name} expects a non-empty TensorList")
        tensors = [prepare(t) for t in tensors]
        return cat(tensors, dim(tensors[0]), out=out)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    publish(name, function, ("",))


def as_column(t):
    return t if len(t._shape) > 1 else t.reshape(t.numel(), 1)


stacking_function("hstack", "The tensors joined horizontally: along dimension 1, vectors along 0.",
                  lambda t: atleast(t, 1), lambda t: 0 if len(t._shape) == 1 else 1)
for _name in ("vstack", "row_stack"):
    stacking_function(_name, "The tensors joined vertically, as rows.", lambda t: atleast(t, 2), lambda t: 0)
stacking_function("dstack", "The tensors joined in depth, along dimension 2.",
                  lambda t: atleast(t, 3), lambda t: 2)
stacking_function("column_stack", "The tensors joined horizontally, vectors as columns.",
                  as_column, lambda t: 1)


# ---- repeating -----------------------------------------------------------------------------------

def repeated_shape(shape, repeats):
    if len(repeats) < len(shape):
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    shape = (1,) * (len(repeats) - len(shape)) + shape
    result = tuple([n * r for n, r in zip(shape, repeats)])
    if min(repeats, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(result)}: {list(result)}")
    return result


def repeat_backward(grad, shape, repeats):
    """The sum of the gradients of all repetitions."""
    if 0 in repeats:
        return grad.new_zeros(shape)
    padded = (1,) * (len(repeats) - len(shape)) + shape
    split = [n for pair in zip(repeats, padded) for n in pair]
    dims = tuple(range(0, len(split), 2))
    summed = grad.reshape(split).sum(dims) if dims else grad
    return summed.reshape(shape)


@operator("repeat", jvp=LINEAR, out=False, spaces=(),
          fake=lambda self, repeats: Fake(repeated_shape(self._shape, repeats), self._dtype),
          vjp={"self": lambda grad, self_shape, repeats: repeat_backward(grad, self_shape, repeats)})
def repeat(self, repeats):
    """The tensor repeated along each dimension; further repeats make new leading dimensions."""
    repeated_shape(self.shape, repeats)
    return np.ascontiguousarray(np.tile(self, repeats)) if repeats else self.copy()


registry["repeat"].info.public = publish(
    "repeat", method_of_sizes(registry["repeat"], "repeats", repeat.__doc__), ("Tensor",))


@composite("tile", spaces=())
def tile_operator(self, dims):
    """The tensor repeated along each dimension; missing leading repeats count as 1."""
    return self.repeat((1,) * (len(self._shape) - len(dims)) + dims)


def tile(input, dims):
    """The tensor repeated along each dimension; missing leading repeats count as 1."""
    return registry["tile"](input, size_argument(dims, "tile", "dims", 2))


registry["tile"].info.public = publish("tile", tile, ("",))
publish("tile", method_of_sizes(registry["tile"], "dims", tile.__doc__), ("Tensor",))


def repeat_indices(repeats, output_size):
    """[0] * repeats[0] + [1] * repeats[1] + ..."""
    if repeats._dtype not in (dt.int32, dt.int64):
        raise NotImplementedError('"repeat_interleave_cpu" not implemented for '
                                  f"'{dt.scalar_type_name(repeats._dtype)}'")
    counts = array_of(repeats)
    if counts.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")
    indices = np.repeat(np.arange(counts.size, dtype=counts.dtype), counts.reshape(-1))
    if output_size is not None and output_size != len(indices):
        raise RuntimeError("allocated size does not match required size")
    return beside(repeats, indices)


def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Each element repeated, `repeats` (int or tensor) times, along `dim` or of the flattened tensor.

    With one argument, a tensor of counts: the index of each count, so many times.
    """
    if repeats is None:
        return repeat_indices(input, output_size)
    if isinstance(repeats, (tuple, list)):
        repeats = input.new_tensor(repeats, dtype=dt.int64)
    if dim is None:
        input, dim = input.flatten(), 0
    if not isinstance(repeats, Tensor):
        return repeat_each(input, repeats, dim, output_size)
    dim = geometry.wrap_dim(dim, len(input._shape))
    if repeats.numel() == 1 and len(repeats._shape) < 2:
        repeats = repeats.reshape(1).expand(input._shape[dim])
    if len(repeats._shape) == 1 and repeats._shape[0] != input._shape[dim]:
        raise RuntimeError("repeats must have the same size as input along dim, but got repeats.size(0) = "
                           f"{repeats._shape[0]} and input.size({dim}) = {input._shape[dim]}")
    return input.index_select(dim, repeat_indices(repeats, output_size))


def repeat_each(t, repeats, dim, output_size=None):
    """Each slice of a dimension `repeats` times, by a copy of an expanded view. RuntimeError: another output_size."""
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if not t._shape:
        t = t.reshape(1)
    dim = geometry.wrap_dim(dim, len(t._shape))
    size = t._shape[dim] * repeats
    if output_size is not None and output_size != size:
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {size} but got {output_size}")
    shape = t._shape[:dim + 1] + (repeats,) + t._shape[dim + 1:]
    return t.unsqueeze(dim + 1).expand(shape).clone(memory_format=contiguous_format).flatten(dim, dim + 1)


publish("repeat_interleave", repeat_interleave, ("", "Tensor"))


# ---- grids ---------------------------------------------------------------------------------------

def tensors_given(tensors):
    """`f(a, b)` and `f([a, b])` mean the same. TypeError for what is no tensor."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tensors[0]
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(f"expected a sequence of Tensors, but found {type(t).__name__}")
    return list(tensors)


_MESHGRID = "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument."


def meshgrid(*tensors, indexing=None):
    """Coordinate grids of vectors: one expanded view per vector, with all their sizes as shape.

    `indexing`: "ij" (the default), or "xy" with the first two dimensions swapped.
    """
    tensors = tensors_given(tensors)
    if indexing is None and tensors:
        warnings.warn(_MESHGRID, UserWarning, stacklevel=2)
    check_meshgrid(tensors, indexing or "ij")
    swaps = indexing == "xy" and len(tensors) >= 2
    if swaps:
        tensors[0], tensors[1] = tensors[1], tensors[0]
    shape = tuple([t.numel() for t in tensors])
    grids = [t.reshape((1,) * i + (-1,) + (1,) * (len(shape) - i - 1)).expand(shape)
             for i, t in enumerate(tensors)]
    if swaps:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


def check_meshgrid(tensors, indexing):
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for t in tensors:
        if len(t._shape) > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {t}")
        if t._dtype is not tensors[0]._dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')


def broadcast_tensors(*tensors):
    """The tensors expanded to their common shape."""
    tensors = tensors_given(tensors)
    shape = geometry.broadcast_shapes(*[t._shape for t in tensors])
    return tuple([t if t._shape == shape else t.expand(shape) for t in tensors])


def cartesian_prod(*tensors):
    """All combinations of elements of the vectors, one per row."""
    tensors = tensors_given(tensors)
    for t in tensors:
        if len(t._shape) != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t._shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return registry["stack"]([grid.flatten() for grid in meshgrid(*tensors, indexing="ij")], 1)


def combinations(input, r=2, with_replacement=False):
    """All combinations of r elements of a vector, one per row."""
    if len(input._shape) != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input._shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty((0,))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(input._shape[0]), r)), np.int64).reshape(-1, r)
    return input.index_select(0, beside(input, rows.reshape(-1))).reshape(-1, r)


for _function in (meshgrid, broadcast_tensors, cartesian_prod, combinations):
    publish(_function.__name__, _function, ("",))
