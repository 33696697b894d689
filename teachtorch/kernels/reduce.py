"""Reductions over some axes of an array: NumPy for small arrays, compiled parallel folds for large ones.

Floats are summed in blocks that depend on the shape alone, so that a sum is the same for any number of threads: a few
elements in their own dtype, which takes half the time, and what comes of them in float64, rounded once at the end. A
sum is at least as accurate as NumPy's.
"""

import functools
import math

import numpy as np

from . import codegen, scalar
from .cache import load_module
from .moments import block_moments, merged
from .parallel import parallel_for
from .pointwise import SMALL, cast, silently

__all__ = ["amax", "amin", "argmax", "argmin", "cumsum", "mean", "norm", "product", "sum", "var"]

BLOCK = 1 << 15  # elements of one task
GRAIN = 1 << 18  # elements that are worth a thread
COLUMNS = 1 << 11  # columns of one task: their accumulators stay in the first-level cache
LANES = 128  # neighbouring rows are folded side by side up to this many accumulators
NAIVE = 256  # NumPy adds up to this many rows one after the other without a visible loss


class Fold:
    """How a reduction takes in elements.

    Args:
        ufunc: NumPy's reduction.
        step: a one-element function of the value so far and the next element.
        merge: one of two values so far.
        start: the value before the first element, by the dtype of the value so far.
        is_narrow: whether few floats are folded in their own dtype.
    """

    def __init__(self, ufunc, step, merge, start, is_narrow=False):
        self.ufunc, self.step, self.merge, self.start, self.is_narrow = ufunc, step, merge, start, is_narrow
        self._kernels = {}

    def kernel(self, dtype, accumulator, again):
        """Return the compiled kernel; ``again`` if its elements are folded values already."""
        key = (dtype, accumulator, again)
        if key not in self._kernels:
            step = self.merge if again else self.step
            part = dtype if self.is_narrow and dtype.kind == "f" else accumulator
            text = codegen.fold_loop(step, self.merge, self.start(accumulator), dtype, accumulator, part)
            self._kernels[key] = load_module(f"fold_{step.__name__.lstrip('_')}_{dtype}", text).kernel
        return self._kernels[key]


@codegen.reorderable
def _add(total, x):
    return total + x


@codegen.reorderable
def _times(total, x):
    return total * x


@codegen.reorderable
def _add_square(total, x):
    return total + x * x


def _larger(total, x):
    return x if x > total else total


def _smaller(total, x):
    return x if x < total else total


def _larger_key_float32(total, x):
    return _larger(total, scalar.key_float32(x, scalar.NAN_ABOVE32))


def _larger_key_float64(total, x):
    return _larger(total, scalar.key_float64(x, scalar.NAN_ABOVE64))


def _smaller_key_float32(total, x):
    return _smaller(total, scalar.key_float32(x, scalar.NAN_BELOW32))


def _smaller_key_float64(total, x):
    return _smaller(total, scalar.key_float64(x, scalar.NAN_BELOW64))


def _floats_of(keys):
    """Return the floats whose keys these are."""
    sign = keys >> (8 * keys.itemsize - 1)
    return (keys ^ (sign & np.iinfo(keys.dtype).max)).view(f"f{keys.itemsize}")


def _lowest(dtype):
    return int(np.iinfo(dtype).min)


def _highest(dtype):
    return int(np.iinfo(dtype).max)


SUM = Fold(np.add, _add, _add, lambda dtype: 0, is_narrow=True)
WIDE_SUM = Fold(np.add, _add, _add, lambda dtype: 0)
PRODUCT = Fold(np.multiply, _times, _times, lambda dtype: 1)
SQUARES = Fold(np.add, _add_square, _add, lambda dtype: 0)
MAXIMUM = Fold(np.maximum, _larger, _larger, _lowest)
MINIMUM = Fold(np.minimum, _smaller, _smaller, _highest)
_larger_key = scalar.PerDtype(_larger_key_float32, _larger_key_float64)
_smaller_key = scalar.PerDtype(_smaller_key_float32, _smaller_key_float64)
FLOAT_MAXIMUM = Fold(np.maximum, _larger_key, _larger, _lowest)
FLOAT_MINIMUM = Fold(np.minimum, _smaller_key, _smaller, _highest)
KEYS = {np.dtype("float32"): np.dtype("int32"), np.dtype("float64"): np.dtype("int64")}


def sum(x, axes=None, keepdims=False, out_dtype=None):
    """Return the sum over ``axes`` (a tuple of axes, None for all) in ``out_dtype``.

    By default integers and bools are summed to int64 and floats to their own dtype, as in PyTorch.
    """
    dtype = np.dtype(out_dtype) if out_dtype is not None else _sum_dtype(x.dtype)
    if x.size <= SMALL or axes == ():
        return _small_sum(x, axes, keepdims, dtype)
    axes = _all_axes(x, axes)
    fold = WIDE_SUM if dtype == np.float64 else SUM
    return _finish(_fold(fold, x, axes, _total_dtype(x.dtype, dtype)), x, axes, keepdims, dtype)


def product(x, axes=None, keepdims=False):
    """Return the product of floats over ``axes``; half precision is multiplied in float32."""
    if x.size <= SMALL or axes == ():
        wide = np.float32 if _is_half(x.dtype) else x.dtype
        found = silently(functools.partial(np.multiply.reduce, x, axis=axes, dtype=wide, keepdims=keepdims))
        return cast(np.asarray(found), x.dtype)
    axes = _all_axes(x, axes)
    wide = np.dtype(np.float32) if _is_half(x.dtype) else x.dtype
    return _finish(_fold(PRODUCT, x, axes, wide), x, axes, keepdims, x.dtype)


def norm(x, axes=None, keepdims=False):
    """Return the Euclidean norm of floats over ``axes``."""
    if x.size <= SMALL or axes == ():
        squares = functools.partial(np.add.reduce, x * x, axis=axes, keepdims=keepdims)
        return np.asarray(np.sqrt(silently(squares)))
    axes = _all_axes(x, axes)
    squares = _fold(SQUARES, x, axes, np.dtype(np.float64))
    return _finish(np.sqrt(squares), x, axes, keepdims, x.dtype)


def mean(x, axes=None, keepdims=False, out_dtype=None):
    """Return the mean over ``axes``; NaN where there is nothing to average."""
    dtype = np.dtype(out_dtype) if out_dtype is not None else x.dtype
    axes = _all_axes(x, axes)
    if x.size <= SMALL or dtype == np.float64:
        total = sum(x, axes, keepdims, np.float64 if dtype == np.float64 else np.float32)
    else:
        total = _finish(_fold(SUM, x, axes, np.dtype(np.float64)), x, axes, keepdims, np.float64)
    return cast(np.asarray(silently(np.true_divide, total, total.dtype.type(_count(x, axes)))), dtype)


def amax(x, axes=None, keepdims=False):
    """Return the largest element over ``axes``, NaN if one is NaN.

    Raises:
        ValueError: there is no element to choose.
    """
    return _extreme(MAXIMUM, FLOAT_MAXIMUM, x, axes, keepdims)


def amin(x, axes=None, keepdims=False):
    """Return the smallest element over ``axes``, NaN if one is NaN.

    Raises:
        ValueError: there is no element to choose.
    """
    return _extreme(MINIMUM, FLOAT_MINIMUM, x, axes, keepdims)


def argmax(x, axis=None, keepdims=False):
    """Return the index of the first largest element (int64), of the first NaN if there is one."""
    return _arg_extreme(np.argmax, x, axis, keepdims)


def argmin(x, axis=None, keepdims=False):
    """Return the index of the first smallest element (int64), of the first NaN if there is one."""
    return _arg_extreme(np.argmin, x, axis, keepdims)


def var(x, axes=None, correction=1, keepdims=False):
    """Return the variance over ``axes``: squares around the mean, divided by the count less ``correction``."""
    axes = _all_axes(x, axes)
    squares = _squares_around_mean(x, axes) if x.size else np.zeros(_finish_shape(x, axes, False))
    quotient = silently(np.true_divide, squares, np.float64(max(_count(x, axes) - correction, 0)))
    return _finish(quotient, x, axes, keepdims, x.dtype)


def _squares_around_mean(x, axes):
    """The squares of the distances from the mean over ``axes``, added up; float64."""
    sizes, reduced = _merged(x.shape, axes)
    if not any(reduced):
        return np.zeros(x.shape)
    last = max(d for d, is_reduced in enumerate(reduced) if is_reduced)
    found = block_moments(_flat(x), (math.prod(sizes[:last]), sizes[last], math.prod(sizes[last + 1:])))
    blocks = [a.reshape(*sizes[:last], -1, *sizes[last + 1:]) for a in found[1:]]
    counts = found[0].reshape(-1, *[1] * len(sizes[last + 1:]))
    return merged(counts, *blocks, tuple([d for d, is_reduced in enumerate(reduced) if is_reduced]))


def cumsum(x, axis, out_dtype=None):
    """Return the running sum along ``axis``; half precision is summed in float32."""
    dtype = np.dtype(out_dtype) if out_dtype is not None else _sum_dtype(x.dtype)
    wide = np.dtype(np.float32) if _is_half(dtype) else dtype
    return cast(silently(np.cumsum, x, axis, wide), dtype)


# ---- small arrays ----


def _small_sum(x, axes, keepdims, dtype):
    wide = dtype
    if _is_half(dtype):
        wide = np.float32
    elif dtype == np.float32 and x.size > NAIVE and (axes is not None and not _has_last(axes, x.ndim)):
        wide = np.float64  # NumPy adds rows up one after the other, unlike the elements of a row
    total = silently(functools.partial(np.add.reduce, x, axis=axes, dtype=wide, keepdims=keepdims))
    return cast(np.asarray(total), dtype)


def _has_last(axes, ndim):
    return ndim - 1 in axes or -1 in axes


def _extreme(fold, float_fold, x, axes, keepdims):
    if x.size <= SMALL or axes == () or x.dtype.name not in FOLDED:
        return np.asarray(silently(functools.partial(fold.ufunc.reduce, x, axis=axes, keepdims=keepdims)))
    axes = _all_axes(x, axes)
    _refuse_empty(fold, x, axes)
    key = KEYS.get(x.dtype)
    flat = _fold(fold, x, axes, x.dtype) if key is None else _floats_of(_fold(float_fold, x, axes, key))
    return _finish(flat, x, axes, keepdims, x.dtype)


def _refuse_empty(fold, x, axes):
    if _count(x, axes) == 0:
        raise ValueError(f"{fold.ufunc.__name__}: no element to choose along axes {axes} of shape {x.shape}")


FOLDED = frozenset({"uint8", "int8", "int16", "int32", "int64", "float32", "float64"})


# ---- large arrays ----


def _fold(fold, x, axes, accumulator):
    """Return ``x`` folded over ``axes`` as a flat array in the order of the other axes."""
    sizes, reduced = _merged(x.shape, axes)
    x, again = _flat(x), False
    while any(reduced):
        last = max(d for d, is_reduced in enumerate(reduced) if is_reduced)
        outer, inner = math.prod(sizes[:last]), math.prod(sizes[last + 1:])
        x = _fold_one(fold, x, (outer, sizes[last], inner), accumulator, again)
        sizes, reduced = sizes[:last] + sizes[last + 1:], reduced[:last] + reduced[last + 1:]
        again = True
    return x


def _flat(x):
    """Return ``x`` flat, its memory in the order of its dimensions; half precision as float32."""
    if _is_half(x.dtype):
        x = x.astype(np.float32)
    return np.ascontiguousarray(x).reshape(-1)


@functools.lru_cache(1024)
def _merged(shape, axes):
    """Return the sizes of the fewest dimensions that describe a reduction, and which of them are reduced."""
    sizes, reduced = [], []
    for d, size in enumerate(shape):
        if sizes and reduced[-1] == (d in axes):
            sizes[-1] *= size
        else:
            sizes.append(size)
            reduced.append(d in axes)
    return tuple(sizes), tuple(reduced)


def _fold_one(fold, x, shape, accumulator, again):
    """Fold the middle dimension of flat ``x``, in truth (outer, rows, inner); return flat (outer, inner)."""
    outer, rows, inner = shape
    if again and x.size <= SMALL:
        return silently(fold.ufunc.reduce, x.reshape(shape), 1).reshape(-1)
    block = max(BLOCK // min(inner, COLUMNS), codegen.RUN)
    if rows <= 2 * block:
        return _fold_whole(fold, x, shape, accumulator, again)
    return _fold_blocks(fold, x, shape, block, accumulator, again)


def _fold_whole(fold, x, shape, accumulator, again):
    outer, rows, inner = shape
    columns = min(inner, COLUMNS)
    groups = _power_of_two(min(LANES // inner, rows // 4))
    out = np.empty(outer * inner, accumulator)
    body = functools.partial(fold.kernel(x.dtype, accumulator, again), out, x, rows, inner, columns, groups)
    parallel_for(outer * -(-inner // columns), max(GRAIN // (rows * columns), 1), body)
    return out


def _fold_blocks(fold, x, shape, block, accumulator, again):
    """Fold many rows block by block, then the blocks' results: the last, shorter block goes on its own."""
    outer, rows, inner = shape
    whole = rows // block
    matrices = x.reshape(shape)
    head = np.ascontiguousarray(matrices[:, :whole * block]).reshape(-1)
    partial = _fold_whole(fold, head, (outer * whole, block, inner), accumulator, again)
    partial = partial.reshape(outer, whole, inner)
    if rows % block:
        tail = np.ascontiguousarray(matrices[:, whole * block:]).reshape(-1)
        rest = _fold_whole(fold, tail, (outer, rows % block, inner), accumulator, again)
        partial = np.concatenate([partial, rest.reshape(outer, 1, inner)], axis=1)
    return _fold_one(fold, partial.reshape(-1), partial.shape, accumulator, again=True)


def _power_of_two(limit):
    """Return the largest power of 2 up to ``limit``, at least 1."""
    return 1 << max(limit.bit_length() - 1, 0)


def _finish(flat, x, axes, keepdims, dtype):
    return cast(flat.reshape(_finish_shape(x, axes, keepdims)), dtype)


def _finish_shape(x, axes, keepdims):
    if keepdims:
        return [1 if d in axes else size for d, size in enumerate(x.shape)]
    return [size for d, size in enumerate(x.shape) if d not in axes]


def _arg_extreme(function, x, axis, keepdims):
    if axis is None:
        return np.asarray(function(x)).reshape((1,) * x.ndim if keepdims else ())
    if x.size <= SMALL or axis % x.ndim == 0:
        return np.asarray(function(x, axis=axis, keepdims=keepdims))
    out = np.empty([1 if d == axis % x.ndim else size for d, size in enumerate(x.shape)], np.int64)

    def body(begin, end):
        out[begin:end] = function(x[begin:end], axis=axis, keepdims=True)
    parallel_for(len(x), max(GRAIN // (x.size // len(x)), 1), body)
    return out if keepdims else out.squeeze(axis)


# ---- dtypes and axes ----


def _all_axes(x, axes):
    """Return the axes counted from the front."""
    if axes is None:
        return tuple(range(x.ndim))
    return tuple(axis % x.ndim for axis in axes)


def _count(x, axes):
    return math.prod(x.shape[axis] for axis in axes)


def _is_float(dtype):
    return dtype.kind == "f" or _is_half(dtype)


def _is_half(dtype):
    return dtype.itemsize == 2 and dtype.kind not in "iu"  # bfloat16 is of no kind that NumPy knows


def _total_dtype(dtype, result):
    """The dtype in which the parts of a sum are added up."""
    return np.dtype(np.float64 if _is_float(result) or _is_float(dtype) else np.int64)


def _sum_dtype(dtype):
    return dtype if _is_float(dtype) else np.dtype(np.int64)
