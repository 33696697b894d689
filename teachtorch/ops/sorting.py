"""Sorting, searching in sorted sequences, unique elements."""
import math

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..dispatch.operator import registry
from ..tensor import Tensor, stride_of
from .declare import composite, operator, publish, write_out
from .fake import Fake, stand_in
from .extrema import VALUES_AND_INDICES, put_back
from .reduction_arguments import numpy_names, own_and_index_dtype, require_dim
from .reduction_arrays import widened


def gathered_gradient(grads, self_shape, dim, indices):
    """The gradient of values that were taken at `indices` along `dim`."""
    return put_back(grads[0], dim, indices, self_shape)


def gathered_tangent(self_t, dim, indices):
    return self_t.gather(dim, indices), None


# ---- sort

def fake_sort(self, dim=-1, descending=False, stable=None):
    require_dim(dim, "sort")
    geometry.wrap_dim(dim, len(self._shape))
    stride = geometry.preserve_format_strides(self._shape, stride_of(self))
    return Fake(self._shape, self._dtype, stride), Fake(self._shape, dt.int64, stride)


def sorted_order(array, dim, descending):
    """The stable order along `dim`; NaN counts as the largest."""
    wide = widened(array)
    if not descending:
        return np.argsort(wide, axis=dim, kind="stable")
    backwards = np.argsort(np.flip(wide, dim), axis=dim, kind="stable")
    return np.flip(array.shape[dim] - 1 - backwards, dim)


def laid_out_like(array, values):
    """The values in fresh memory, in the order of the array's strides."""
    found = np.empty_like(array, values.dtype, order="K", subok=False)
    found[...] = values
    return found


@operator("sort", jvp=gathered_tangent, fake=fake_sort, outputs=VALUES_AND_INDICES, spaces=(),
          vjp={"self": gathered_gradient})
def sort_(self, dim=-1, descending=False, *, stable=None):
    """The elements in stable order along `dim` and where they came from; NaN counts as the largest."""
    require_dim(dim, "sort")
    dim = geometry.wrap_dim(dim, self.ndim)
    if not self.ndim:
        return np.array(self), np.zeros((), np.int64)
    order = sorted_order(self, dim, descending)
    return laid_out_like(self, np.take_along_axis(self, order, dim)), laid_out_like(self, order)


def sort(input, dim=-1, descending=False, *, stable=None, out=None):
    """Named (values, indices): the elements in order along `dim`, and where they came from.

    Equal elements keep their order whether `stable` is asked for or not; NaN counts as the largest.
    """
    if dim.__class__ is bool:
        raise TypeError("sort(): argument 'dim' (position 1) must be int, not bool")
    args = (input, dim, descending, stable)
    return _sort(*args) if out is None else write_out(_sort, out, args)


_sort = registry["sort"]
publish("sort", numpy_names(sort, own_and_index_dtype), ("", "Tensor"))


@composite("argsort", out=True, spaces=())
def argsort(input, dim=-1, descending=False, *, stable=False):
    """The indices that put the elements in order along `dim`."""
    return input.sort(dim=dim, descending=descending, stable=stable)[1]


@composite("msort", out=True)
def msort(input):
    """The elements in order along the first dimension."""
    return input.sort(0)[0]


publish("argsort", numpy_names(argsort), ("", "Tensor"))


# ---- topk

def fake_topk(self, k, dim=-1, largest=True, sorted=True):
    require_dim(dim, "topk", 2)
    dim = geometry.wrap_dim(dim, len(self._shape))
    if not 0 <= k <= (self._shape[dim] if self._shape else 1):
        raise RuntimeError("selected index k out of range")
    if self._dtype is dt.bool:
        raise RuntimeError("topk does not support bool dtypes on CPU")
    shape = tuple([k if i == dim else n for i, n in enumerate(self._shape)])
    return Fake(shape, self._dtype), Fake(shape, dt.int64)


def top_order(array, k, dim, largest):
    """Where the k extreme elements are, the most extreme first."""
    size = array.shape[dim]
    if 0 < k < min(size // 4, FEW) and array.dtype.char in "fd" and dim == array.ndim - 1:
        found = one_by_one(array, k, largest)
        if found is not None:
            return found
    if 0 < k < size // 4:
        kth = size - k if largest else k - 1
        ends = slice(size - k, None) if largest else slice(0, k)
        chosen = np.take(np.argpartition(array, kth, axis=dim), np.arange(size)[ends], axis=dim)
        order = sorted_order(np.take_along_axis(array, chosen, dim), dim, largest)
        return np.take_along_axis(chosen, order, dim)
    return np.take(sorted_order(array, dim, largest), np.arange(k), axis=dim)


FEW = 16        # that many searches of a row take less time than dividing it by a pivot


def one_by_one(array, k, largest):
    """The same along the last dimension: each is found by a search, and taken out before the next.

    None where that does not tell them apart: from infinities, which are put in their places, or, for the smallest, from
    NaN, which counts as largest.
    """
    left, taken = array.copy(), np.empty((*array.shape[:-1], k), np.int64)
    worst = -math.inf if largest else math.inf
    for place in range(k):
        found = taken[..., place:place + 1]
        found[..., 0] = (left.argmax if largest else left.argmin)(-1)
        np.put_along_axis(left, found, worst, -1)
    values = np.take_along_axis(array, taken, -1)
    if (values == worst).any() or not largest and np.isnan(values).any():
        return None
    return taken


@operator("topk", jvp=gathered_tangent, fake=fake_topk, outputs=VALUES_AND_INDICES, spaces=(),
          vjp={"self": gathered_gradient})
def topk(self, k, dim=-1, largest=True, sorted=True):
    """The k largest (or smallest) elements along `dim`, the most extreme first, and where they are."""
    require_dim(dim, "topk", 2)
    dim = geometry.wrap_dim(dim, self.ndim)
    if not 0 <= k <= (self.shape[dim] if self.ndim else 1) or self.dtype == np.bool_:
        raise ValueError("topk() cannot choose")
    if not self.ndim:
        return (np.array(self), np.zeros((), np.int64))
    indices = np.ascontiguousarray(top_order(widened(self), k, dim, largest))
    return np.ascontiguousarray(np.take_along_axis(self, indices, dim)), indices


publish("topk", numpy_names(topk, own_and_index_dtype), ("", "Tensor"))


# ---- searchsorted, bucketize

def check_search(sequence, values, side, right, sorter):
    """PyTorch's refusals. `values`: an array."""
    start = "torch.searchsorted(): "
    if side not in (None, "left", "right"):
        raise RuntimeError(f"{start}side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(f"{start}side and right can't be set to opposites, got side of left while right "
                           f"was True")
    if not sequence.ndim:
        raise RuntimeError(f"{start}boundaries tensor should have positive dimension, but got 0 dimension")
    if not values.ndim and sequence.ndim != 1:
        raise RuntimeError(f"{start}input value can be a scalar only when boundaries tensor dimension is 1, but we "
                           f"got boundaries tensor dim({sequence.ndim}) and input value's dim(0) numel(1)")
    if sequence.ndim != 1 and (sequence.ndim != values.ndim or sequence.shape[:-1] != values.shape[:-1]):
        raise RuntimeError(f"{start}boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
                           "tensor and input value tensor must match, but we got boundaries tensor "
                           f"{list(sequence.shape)} and input value tensor {list(values.shape)}")
    if sorter is not None:
        check_sorter(start, sequence, sorter)


def check_sorter(start, sequence, sorter):
    if sorter.shape != sequence.shape:
        raise RuntimeError(f"{start}boundary and sorter must have the same size, but got boundary tensor "
                           f"{list(sequence.shape)}and got sorter tensor {list(sorter.shape)}")
    if sorter.dtype != np.int64:
        raise RuntimeError(f"{start}sorter must be a tensor of long dtype but got dtype "
                           f"{scalar_type_name(dt.from_numpy(sorter.dtype))}")
    if sorter.size and (sorter.min() < 0 or sorter.max() >= sequence.shape[-1]):
        raise RuntimeError(f"{start}sorter index out of range")


def fake_searchsorted(sorted_sequence, self, out_int32=False, right=False, side=None, sorter=None):
    values = stand_in(self) if isinstance(self, Tensor) else np.asarray(self)
    check_search(stand_in(sorted_sequence), values, side, right, None if sorter is None else stand_in(sorter))
    return Fake(self._shape if isinstance(self, Tensor) else (), dt.int32 if out_int32 else dt.int64)


@operator("searchsorted", spaces=(), fake=fake_searchsorted)
def searchsorted_(sorted_sequence, self, *, out_int32=False, right=False, side=None, sorter=None):
    """Where values would have to be inserted to keep the innermost dimension of `sorted_sequence` sorted."""
    values = widened(np.asarray(self))
    check_search(sorted_sequence, values, side, right, sorter)
    if sorter is not None:
        sorted_sequence = np.take_along_axis(sorted_sequence, sorter, -1)
    side = "right" if right or side == "right" else "left"
    dtype = np.int32 if out_int32 else np.int64
    return positions_in(widened(sorted_sequence), values, side).astype(dtype)


def positions_in(sequence, values, side):
    """Row by row, unless there is one sequence for all values."""
    if sequence.ndim == 1:
        return np.asarray(np.searchsorted(sequence, values, side))
    found = np.empty(values.shape, np.int64)
    for row in np.ndindex(sequence.shape[:-1]):
        found[row] = np.searchsorted(sequence[row], values[row], side)
    return found


def check_out_dtype(out, out_int32):
    if out is not None and out.dtype is not (dt.int32 if out_int32 else dt.int64):
        raise RuntimeError("torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
                           "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's "
                           f"dtype {scalar_type_name(out.dtype)} and out_int32 flag is {out_int32}")


def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None, out=None):
    """The indices at which `input` (a tensor or a number) would have to be inserted to keep the innermost
    dimension of `sorted_sequence` sorted: before equal elements, or after them with `right=True` or
    `side="right"`."""
    check_out_dtype(out, out_int32)
    args = (sorted_sequence, input, out_int32, right, side, sorter)
    return registry["searchsorted"](*args) if out is None else write_out(registry["searchsorted"], out, args)


def bucketize(input, boundaries, *, out_int32=False, right=False, out=None):
    """The index of the bucket between the 1-dim `boundaries` that each element falls into."""
    if boundaries.dim() != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.dim()})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, out=out)


publish("searchsorted", searchsorted, ("",))
publish("bucketize", bucketize, ("",))


# ---- unique

def check_unique_dim(array, dim):
    """The dimension counted from the front, or None for all elements."""
    if dim is None:
        return None
    if not array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = geometry.wrap_dim(dim, array.ndim)
    if 0 in array.shape[:dim] + array.shape[dim + 1:]:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be "
                           "applied")
    return dim


def chosen_results(values, inverse, counts, return_inverse, return_counts):
    """The values alone, or a tuple with what was asked for."""
    found = [values] + ([inverse] if return_inverse else []) + ([counts] if return_counts else [])
    return found[0] if len(found) == 1 else tuple(found)


def slices_together(values, dim):
    """Lay the slices along `dim` out one after the other."""
    if dim is None:
        return np.ascontiguousarray(values)
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(values, dim, 0)), 0, dim)


def no_derivative(name):
    """A derivative that PyTorch does not have either: results require grad, and backward says so."""
    def refuse(grads):
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")
    return refuse


@operator("unique", out=False, spaces=(), vjp={"self": no_derivative("_unique2")})
def unique_(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements (or slices along `dim`) in ascending order; no NaN equals another."""
    dim = check_unique_dim(self, dim)
    values, inverse, counts = np.unique(widened(self), return_inverse=True, return_counts=True, axis=dim,
                                        equal_nan=False)
    inverse = inverse.reshape(self.shape if dim is None else -1).astype(np.int64)
    values = slices_together(values.astype(self.dtype, copy=False), dim)
    return chosen_results(values, inverse, counts.astype(np.int64), return_inverse, return_counts)


def rows_along(array, dim):
    """The slices along a dimension, each flat."""
    size = array.shape[dim]
    return np.moveaxis(array, dim, 0).reshape(size, array.size // size if size else 0)


@operator("unique_consecutive", out=False, vjp={"self": no_derivative("unique_consecutive")})
def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
    """The elements (or slices along `dim`) without those that equal their predecessor."""
    dim = check_unique_dim(self, dim)
    rows = self.reshape(-1, 1) if dim is None else rows_along(self, dim)
    is_new = np.ones(len(rows), np.bool_)
    is_new[1:] = (rows[1:] != rows[:-1]).any(1)
    values = self.reshape(-1)[is_new] if dim is None else np.compress(is_new, self, dim)
    inverse = (np.cumsum(is_new) - 1).astype(np.int64)
    counts = np.diff(np.append(np.flatnonzero(is_new), len(rows))).astype(np.int64)
    return chosen_results(slices_together(values, dim), inverse.reshape(self.shape) if dim is None
                          else inverse,
                          counts, return_inverse, return_counts)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements (or slices along `dim`) in ascending order.

    With `return_inverse` and `return_counts` a tuple: also where each element is and how often it occurs.
    """
    return registry["unique"](input, sorted, return_inverse, return_counts, dim)


publish("unique", unique, ("", "Tensor"))
