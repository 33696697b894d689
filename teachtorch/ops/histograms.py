"""How many elements fall where: bincount and histc."""

import math

import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from .declare import operator
from .fake import Fake, stand_in
from .reduction_arrays import is_number_array, widened


@operator("bincount", out=False)
def bincount(self, weights=None, minlength=0):
    """How often each of 0, 1, ... occurs in a 1-dim integer tensor, or the sum of its `weights`."""
    check_bincount(self, weights, minlength)
    count = max(int(self.max()) + 1 if self.size else 0, minlength)
    if weights is None:
        return np.bincount(self, minlength=count).astype(np.int64)
    if not self.size:
        return np.zeros(count, np.float32 if weights.dtype == np.float32 else np.float64)
    found = np.bincount(self, weights.astype(np.float64), count)
    return found.astype(np.float32) if weights.dtype == np.float32 else found


def check_bincount(values, weights, minlength):
    if values.dtype.kind not in "iu":
        name = scalar_type_name(dt.from_numpy(values.dtype))
        raise NotImplementedError(f'"bincount_cpu" not implemented for \'{name}\'')
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if values.ndim != 1 or values.size and values.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights.shape != values.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")


def histogram_range(array, low, high):
    """The range asked for; that of the data if low == high; widened by 1 to each side if it is a point."""
    if high < low:
        raise RuntimeError("torch.histc: max must be larger than min")
    if low == high and array.size:
        low, high = float(array.min()), float(array.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    return (low - 1, high + 1) if low == high else (low, high)


def check_histc(array, bins, low, high):
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if is_number_array(array):
        name = scalar_type_name(dt.from_numpy(array.dtype))
        raise NotImplementedError(f'"histogram_cpu" not implemented for \'{name}\'')
    if low != high:
        histogram_range(array, low, high)


def fake_histc(self, bins=100, min=0, max=0):
    check_histc(stand_in(self), bins, min, max)
    return Fake((bins,), self._dtype)


@operator("histc", fake=fake_histc)
def histc(self, bins=100, min=0, max=0):
    """Counts, as floats, in `bins` equal bins from `min` to `max` (both 0: the range of the data)."""
    check_histc(self, bins, min, max)
    array = widened(self).reshape(-1)
    low, high = histogram_range(array, min, max)
    inside = array[(array >= low) & (array <= high)]
    which = ((inside - low) / (high - low) * bins).astype(np.int64)
    return np.bincount(np.minimum(which, bins - 1), minlength=bins).astype(self.dtype)
