"""What ``x[index]`` means: a few view operations, then at most one gather.

`plan_index` reads a Python index from left to right, as PyTorch does.  Ints, slices, ``None`` and ``...`` are
*basic*: they become `select`, `slice` and `unsqueeze`, and move no data.  Tensors, lists and bools are
*advanced*: they are only written down, with the dimension they apply to, for the operator that gathers
(``x[...]``) or scatters (``x[...] = y``).

Tensors stay opaque here.  An *index tensor* is any object with ``dtype``, ``ndim`` and ``shape``; its dtype
is known by the last word of its name (``torch.bool``, ``int64``, ...).  Only a 0-dim one is ever read,
through ``int()`` or ``bool()``, because PyTorch treats it as the Python number it holds.  Lists and NumPy
arrays are handed to the caller's ``as_index_tensor``, which makes tensors of them.

Source: https://docs.pytorch.org/cppdocs/notes/tensor_indexing.html, ``aten/src/ATen/TensorIndexing.h`` and
``torch/csrc/autograd/python_variable_indexing.cpp``.
"""

import warnings
from functools import lru_cache
from operator import index as as_int
from typing import NamedTuple

import numpy as np

from teachtorch.core import geometry

_BASIC_TYPES = frozenset({int, slice, bool, type(None), type(Ellipsis)})


class IndexPlan(NamedTuple):
    """A parsed index.

    Attributes:
        shape, stride, offset: the geometry after all basic steps; the whole result if ``indices`` is empty.
        steps: the basic steps in order: ``("select", dim, index)``, ``("slice", dim, start, stop, step)`` and
            ``("unsqueeze", dim)``, each on the result of the one before.  Empty for an alias.
        indices: the advanced indices, in the order of the dimensions they take.  None keeps a dimension, a
            mask of n dimensions takes n, any other tensor takes one; later dimensions are kept.
            A Python bool stands for the index tensor ``[0]`` (True) or an empty one (False), on a dimension
            of size 1 that a step has made for it.
    """

    shape: tuple
    stride: tuple
    offset: int
    steps: tuple
    indices: tuple


def plan_index(index, shape, stride, offset, as_index_tensor):
    """Parse the index of ``x[index]`` for a tensor of this geometry.

    Args:
        index: int, slice, None, Ellipsis, bool, index tensor, sequence, or a tuple of these.
        shape, stride, offset: the tensor's geometry, strides in elements.
        as_index_tensor: function that makes an index tensor of a list or NumPy array: bool and uint8 keep
            their dtype, all else becomes int64 (fractions are cut off).

    Returns:
        IndexPlan

    Raises:
        IndexError: too many indices, an index or mask that does not fit its dimension, or no index at all.
        ValueError: a slice whose step is not positive.
        TypeError: a slice bound that is not an int, or a string.

    Differs from PyTorch in one corner: a nested list of bools counts as the mask it is (as in NumPy), where
    PyTorch counts it as one dimension when it checks for too many indices and when it places ``...``.
    """
    kind = type(index)
    if kind is int:
        return _plan_select(index, shape, stride, offset)
    if kind is slice:
        start, stop, step = _slice_bounds(index)
        view = geometry.slice_(shape, stride, offset, 0, start, stop, step)
        return IndexPlan(*view, (("slice", 0, start, stop, step),), ())
    if isinstance(index, np.integer):
        return _plan_select(int(index), shape, stride, offset)
    items = index if isinstance(index, tuple) else _as_items(index)
    return _plan_items(items, shape, stride, offset, as_index_tensor)


def _plan_select(index, shape, stride, offset):
    if not shape:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
            "to convert a 0-dim tensor to a number"
        )
    _check_bounds(index, shape[0], 0)
    return IndexPlan(*geometry.select(shape, stride, offset, 0, index), (("select", 0, index),), ())


def _plan_items(items, shape, stride, offset, as_index_tensor):
    items = [item if type(item) in _BASIC_TYPES else _as_basic(item, as_index_tensor) for item in items]
    specified = sum([_dims_taken(item) for item in items])
    if specified > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    walk = _Walk(shape, stride, offset)
    for position, item in enumerate(items):
        if type(item) is int:
            walk.select(item, position)
        elif type(item) is slice:
            walk.slice(item)
        elif item is None:
            walk.new_dim()
        elif item is Ellipsis:
            walk.dim += len(shape) - specified
        elif type(item) is bool:
            walk.scalar_mask(item)
        else:
            walk.advanced(item)
    return walk.finish()


class _Walk:
    """The state while an index is read from left to right."""

    __slots__ = ("shape", "stride", "offset", "dim", "steps", "indices", "covered")

    def __init__(self, shape, stride, offset):
        self.shape, self.stride, self.offset = shape, stride, offset
        self.dim = 0  # the dimension the next item applies to
        self.steps = []
        self.indices = []
        self.covered = 0  # how many dimensions `indices` speaks of

    def select(self, index, position):
        # PyTorch's message counts items of the index here, not dimensions.
        _check_bounds(index, self._size(), position)
        self._step("select", geometry.select, index)

    def slice(self, item):
        start, stop, step = _slice_bounds(item)
        if not _keeps_all(start, stop, step, self._size()):
            self._step("slice", geometry.slice_, start, stop, step)
        self.dim += 1

    def new_dim(self):
        self._step("unsqueeze", geometry.unsqueeze)
        self.dim += 1

    def scalar_mask(self, value):
        self._step("unsqueeze", geometry.unsqueeze)
        self.advanced(value)

    def advanced(self, index):
        self.indices.extend([None] * (self.dim - self.covered))
        self.indices.append(index)
        self.dim += 1 if type(index) is bool else _dims_taken(index)
        self.covered = self.dim

    def _size(self):
        # A second `...` fills the gap once more, and so may lead beyond the last dimension.
        return self.shape[self.dim] if self.dim < len(self.shape) else 0

    def _step(self, name, view, *args):
        self.shape, self.stride, self.offset = view(self.shape, self.stride, self.offset, self.dim, *args)
        self.steps.append((name, self.dim, *args))

    def finish(self):
        if self.covered > len(self.shape):
            raise IndexError(f"too many indices for tensor of dimension {len(self.shape)} (got {self.covered})")
        _check_indices(self.indices, self.shape)
        return IndexPlan(self.shape, self.stride, self.offset, tuple(self.steps), tuple(self.indices))


# Reading one item.


def _as_basic(item, as_index_tensor):
    """Turn an item into an int, slice, None, Ellipsis, bool or index tensor of at least one dimension."""
    if is_index_tensor(item):
        return _unwrap_scalar(item)
    if isinstance(item, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(item).__name__}'")
    if _is_sequence(item):
        return _unwrap_scalar(as_index_tensor(item))
    try:
        return as_int(item)
    except TypeError:
        raise _not_an_index(item) from None


def _not_an_index(item):
    kind = type(item)
    name = f"numpy.{kind.__name__}" if isinstance(item, np.generic) else kind.__name__
    return IndexError(
        f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {name})"
    )


def _unwrap_scalar(tensor):
    """Return the number in a 0-dim integer or bool tensor; any other tensor as it is."""
    if tensor.ndim == 0:
        if is_mask(tensor):
            return bool(tensor)
        if "int" in _dtype_name(tensor.dtype):
            return int(tensor)
    return tensor


def _dims_taken(item):
    """Return how many dimensions of the indexed tensor an item speaks of."""
    if type(item) in (int, slice):
        return 1
    if type(item) in _BASIC_TYPES:
        return 0
    return item.ndim if is_mask(item) else 1


def _slice_bounds(item):
    """Return (start, stop, step) of a slice with ints, or None for a bound left out."""
    step = 1 if item.step is None else _slice_int(item.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    start = None if item.start is None else _slice_int(item.start)
    stop = None if item.stop is None else _slice_int(item.stop)
    if step < 0:
        raise ValueError("step must be greater than zero")
    return start, stop, step


def _slice_int(bound):
    if bound.__class__ is int:
        return bound
    try:
        return as_int(bound)
    except TypeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None


def _keeps_all(start, stop, step, size):
    return step == 1 and (start is None or start == 0) and (stop is None or stop >= size)


def _check_bounds(index, size, dim):
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")


# Sequences.


def _as_items(index):
    """Return the items of an index that is not a tuple: itself, or what some old sequences hold."""
    if type(index) in _BASIC_TYPES or is_index_tensor(index):
        return (index,)
    if not (_is_sequence(index) and _reads_as_tuple(index)):
        return (index,)
    warnings.warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use "
        "x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, x[torch.tensor(seq)], "
        "which will result either in an error or a different result",
        stacklevel=4,
    )
    return tuple(index)


def _is_sequence(item):
    """Tell whether PyTorch takes it for a sequence: it can be indexed, but is no dict or NumPy scalar."""
    return hasattr(type(item), "__getitem__") and not isinstance(item, (dict, np.generic))


def _reads_as_tuple(sequence):
    """Tell whether ``x[sequence]`` means ``x[tuple(sequence)]``, a habit taken over from old NumPy.

    So it does if the sequence is short and holds a slice, tensor, sequence, None or ``...``.
    """
    if isinstance(sequence, (bytes, np.ndarray)) or len(sequence) >= 32:
        return False
    return any(
        item is None or item is Ellipsis or type(item) is slice or is_index_tensor(item) or _is_sequence(item)
        for item in sequence
    )


# Index tensors.


def is_index_tensor(item):
    """Tell whether an item is a tensor: it has ``dtype``, ``ndim`` and ``shape``, and is not NumPy's."""
    return (
        hasattr(item, "dtype")
        and hasattr(item, "ndim")
        and hasattr(item, "shape")
        and not isinstance(item, (np.ndarray, np.generic))
    )


@lru_cache(maxsize=64)
def _dtype_name(dtype):
    return str(dtype).rpartition(".")[2]


def is_mask(tensor):
    """Tell whether an index tensor picks by yes and no: dtype bool, or uint8 as before bool existed."""
    return _dtype_name(tensor.dtype) in ("bool", "uint8")


def _check_indices(indices, shape):
    """Check dtypes, and that every mask has the sizes of the dimensions it takes."""
    placed = []
    dim = 0
    for index in indices:
        if index is None or type(index) is bool:
            dim += 1
            continue
        _check_dtype(_dtype_name(index.dtype))
        placed.append((index, dim))
        dim += _dims_taken(index)
    for index, dim in placed:
        if is_mask(index):
            check_mask(tuple(index.shape), shape, dim)


def _check_dtype(name):
    if name not in ("int64", "int32", "uint8", "bool"):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if name == "uint8":
        warnings.warn(
            "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.", stacklevel=6
        )


def check_mask(mask_shape, shape, dim):
    """Check that a mask on dimension ``dim`` has the sizes of the dimensions it takes.

    Raises:
        IndexError: a size differs.
    """
    for position, size in enumerate(mask_shape):
        if size != shape[dim + position]:
            raise IndexError(
                f"The shape of the mask {list(mask_shape)} at index {position} does not match the shape of "
                f"the indexed tensor {list(shape)} at index {dim + position}"
            )


def gather_layout(shape, index_shapes):
    """Return the shape of what the advanced indices pick, and where their own dimensions stand in it.

    Args:
        shape: the shape that is indexed, after the basic steps.
        index_shapes: per dimension the shape of its integer index, or None to keep the dimension.  A mask
            counts as one index per dimension, each of shape (number of Trues,).

    Returns:
        (result_shape, place, broadcast_shape): the indices are broadcast together; their dimensions take the
        place of the indexed ones if those are neighbours, else come first.

    Raises:
        IndexError: the indices do not broadcast together, or pick from a dimension of size 0.
    """
    indexed = [dim for dim, index_shape in enumerate(index_shapes) if index_shape is not None]
    picked = _broadcast_indices([tuple(index_shapes[dim]) for dim in indexed])
    if 0 not in picked and any(shape[dim] == 0 for dim in indexed):
        raise IndexError("index is out of bounds for dimension with size 0")
    neighbours = indexed[-1] - indexed[0] + 1 == len(indexed)
    place = indexed[0] if neighbours else 0
    kept = tuple([size for dim, size in enumerate(shape) if dim not in indexed])
    return kept[:place] + picked + kept[place:], place, picked


def _broadcast_indices(shapes):
    try:
        return geometry.broadcast_shapes(*shapes)
    except RuntimeError:
        listed = ", ".join(str(list(shape)) for shape in shapes)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {listed}"
        ) from None
