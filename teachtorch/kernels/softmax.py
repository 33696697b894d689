"""Softmax and log-softmax along one axis with their gradients, and the negative log likelihood.

Small arrays go through NumPy, large ones through the row loops below, compiled for float32 and float64.
"""

import functools

import numpy as np

from . import codegen
from .cache import load_module
from .parallel import parallel_for
from .pointwise import SMALL, cast, silently
from .scalar import (
    NAN_ABOVE32, NAN_ABOVE64, PerDtype, exp, from_key_float32, from_key_float64, key_float32, key_float64,
    log,
)

__all__ = [
    "log_softmax", "log_softmax_backward", "logsumexp", "nll_loss", "nll_loss_backward", "softmax",
    "softmax_backward",
]

GRAIN = 1 << 16  # elements that are worth a thread


def softmax(x, axis):
    """Return exp(x) over its sum along ``axis``, for a floating ``x`` of any shape."""
    return _by_rows(softmax_rows, _small_softmax, axis, x)


def log_softmax(x, axis):
    """Return x less the logarithm of the sum of exp(x) along ``axis``."""
    return _by_rows(log_softmax_rows, _small_log_softmax, axis, x)


def softmax_backward(grad, result, axis):
    """Return the gradient of `softmax`'s input from that of its ``result``."""
    return _by_rows(softmax_backward_rows, _small_softmax_backward, axis, grad, result)


def log_softmax_backward(grad, result, axis):
    """Return the gradient of `log_softmax`'s input from that of its ``result``."""
    return _by_rows(log_softmax_backward_rows, _small_log_softmax_backward, axis, grad, result)


def logsumexp(x, axes=None, keepdims=False):
    """Return log(sum(exp(x))) over ``axes`` (a tuple, None for all) without overflow; -inf for nothing."""
    wide = _widened(x)
    top = np.max(wide, axis=axes, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top) | np.isnan(top), top, np.zeros_like(top))
    total = silently(lambda: np.log(np.sum(np.exp(wide - top), axis=axes, keepdims=True)) + top)
    return cast(np.asarray(total if keepdims else np.squeeze(total, axis=axes)), x.dtype)


# ---- negative log likelihood ----


def nll_loss(log_probabilities, target, weight=None, ignore_index=-100):
    """Return each sample's loss and weight, both 0 where the target is ``ignore_index``.

    Args:
        log_probabilities: floating, (N, C) or (N, C, d1, ...).
        target: int64 classes, (N,) or (N, d1, ...).
        weight: a weight per class, (C,), or None for 1.

    Raises:
        IndexError: a target is no class.
    """
    kept, classes = _kept_classes(target, ignore_index, log_probabilities.shape[1])
    weights = _sample_weights(kept, classes, weight, log_probabilities.dtype)
    chosen = np.take_along_axis(log_probabilities, classes[:, None], 1)[:, 0]
    return np.where(kept, -chosen * weights, weights), weights


def nll_loss_backward(grad, shape, target, weight=None, ignore_index=-100):
    """Return the gradient of `nll_loss`'s log probabilities.

    Args:
        grad: the gradient of each sample's loss, of ``target``'s shape or a 0-d array for all.
        shape: the log probabilities' shape.
        target, weight, ignore_index: as given to `nll_loss`.
    """
    kept, classes = _kept_classes(target, ignore_index, shape[1])
    result = np.zeros(shape, grad.dtype)
    values = -grad * _sample_weights(kept, classes, weight, grad.dtype)
    np.put_along_axis(result, classes[:, None], values[:, None], 1)
    return result


def _kept_classes(target, ignore_index, count):
    """Return which samples count, and the targets with class 0 in place of the others."""
    kept = target != ignore_index
    classes = np.where(kept, target, 0)
    if classes.size and (classes.min() < 0 or classes.max() >= count):
        wrong = classes[(classes < 0) | (classes >= count)]
        raise IndexError(f"Target {wrong[0]} is out of bounds.")
    return kept, classes


def _sample_weights(kept, classes, weight, dtype):
    return kept.astype(dtype) if weight is None else np.where(kept, weight[classes], weight.dtype.type(0))


# ---- small arrays ----


def _small_softmax(axis, x):
    powers = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
    powers /= np.add.reduce(powers, axis=axis, keepdims=True)
    return powers


def _small_log_softmax(axis, x):
    shifted = x - np.maximum.reduce(x, axis=axis, keepdims=True)
    shifted -= np.log(np.add.reduce(np.exp(shifted), axis=axis, keepdims=True))
    return shifted


def _small_softmax_backward(axis, grad, result):
    product = grad * result
    return product - result * np.add.reduce(product, axis=axis, keepdims=True)


def _small_log_softmax_backward(axis, grad, result):
    return grad - np.exp(result) * np.add.reduce(grad, axis=axis, keepdims=True)


def _widened(x):
    return x if x.dtype in (np.float32, np.float64) else x.astype(np.float32)


# ---- large arrays ----


def _by_rows(rows, small, axis, *arrays):
    """Apply a row function along ``axis`` of arrays of one shape; half precision is computed in float32."""
    first = arrays[0]
    if 0 < first.size <= SMALL and first.ndim and first.dtype.char in "fd":
        return silently(small, axis, *arrays)
    if first.size == 0:
        return np.empty(first.shape, first.dtype)
    wide = [np.atleast_1d(_widened(x)) for x in arrays]
    result = silently(small, axis, *wide) if first.size <= SMALL else _large(rows, axis, *wide)
    return cast(result, first.dtype).reshape(first.shape)


def _large(rows, axis, *arrays):
    """Run the compiled rows on copies that have ``axis`` last, or on the arrays themselves where it is."""
    lying = [np.ascontiguousarray(np.moveaxis(x, axis, -1)) for x in arrays]
    out = np.empty_like(lying[0])
    length = out.shape[-1]
    kernel, flat = _kernel(rows, out.dtype, len(arrays)), [x.reshape(-1) for x in (out, *lying)]
    parallel_for(out.size // length, max(GRAIN // length, 1), functools.partial(kernel, *flat, length))
    return np.ascontiguousarray(np.moveaxis(out, -1, axis))


@functools.lru_cache(maxsize=None)
def _kernel(rows, dtype, inputs):
    return load_module(f"{rows.__name__}_{dtype}", codegen.array_loop(rows, dtype, 1 + inputs, 3)).kernel


# The functions below are compiled; rows of ``length`` elements lie one after the other.


def softmax_rows(out, x, length, begin, end):
    """Fill rows ``begin`` to ``end`` with the softmax."""
    for r in range(begin, end):
        row, result = x[r * length:(r + 1) * length], out[r * length:(r + 1) * length]
        top = largest(row)
        for i in range(length):
            result[i] = exp(row[i] - top)
        scale = 1.0 / total(result)
        for i in range(length):
            result[i] *= scale


def log_softmax_rows(out, x, length, begin, end):
    """Fill rows ``begin`` to ``end`` with the log-softmax."""
    for r in range(begin, end):
        row, result = x[r * length:(r + 1) * length], out[r * length:(r + 1) * length]
        top = largest(row)
        for i in range(length):
            result[i] = exp(row[i] - top)
        shift = log(total(result))
        for i in range(length):
            result[i] = (row[i] - top) - shift


def softmax_backward_rows(out, grad, result, length, begin, end):
    """Fill rows ``begin`` to ``end`` with result * (grad - sum(grad * result))."""
    for r in range(begin, end):
        first, last = r * length, (r + 1) * length
        y, g, target = result[first:last], grad[first:last], out[first:last]
        for i in range(length):
            target[i] = g[i] * y[i]
        mean = total(target)
        for i in range(length):
            target[i] = y[i] * (g[i] - mean)


def log_softmax_backward_rows(out, grad, result, length, begin, end):
    """Fill rows ``begin`` to ``end`` with grad - exp(result) * sum(grad)."""
    for r in range(begin, end):
        first, last = r * length, (r + 1) * length
        y, g, target = result[first:last], grad[first:last], out[first:last]
        mass = total(g)
        for i in range(length):
            target[i] = g[i] - exp(y[i]) * mass


def largest_float32(row):
    """Return a row's largest element, NaN if one is NaN."""
    top = -0x80000000
    for i in range(row.size):
        top = max(top, key_float32(row[i], NAN_ABOVE32))
    return from_key_float32(top)


def largest_float64(row):
    """Return a row's largest element, NaN if one is NaN."""
    top = -0x8000000000000000
    for i in range(row.size):
        top = max(top, key_float64(row[i], NAN_ABOVE64))
    return from_key_float64(top)


@codegen.reorderable
def total(row):
    """Return the sum of a row."""
    result = 0.0
    for i in range(row.size):
        result += row[i]
    return result


largest = PerDtype(largest_float32, largest_float64)
