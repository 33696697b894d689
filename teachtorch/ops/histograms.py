"""How many elements fall where: bincount, histc, histogram."""

import math

import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..tensor import Tensor
from .declare import operator
from .fake import Fake, stand_in
from .reduction_arrays import is_number_array, widened


# ---- counts ---------------------------------------------------------------------------------------------

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


# ---- with edges -----------------------------------------------------------------------------------------

def check_histogram(shape, dtype, bins, weight_shape):
    if not dtype.is_floating_point:
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{scalar_type_name(dtype)}'")
    if weight_shape is not None and tuple(weight_shape) != tuple(shape):
        raise RuntimeError("torch.histogramdd: if weight tensor is provided it should have the same shape as the input "
                           "tensor excluding its innermost dimension, but got input with shape "
                           f"{[math.prod(shape), 1]} and weight with shape {list(weight_shape)}")
    if isinstance(bins, int) and bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if not isinstance(bins, int) and bins.shape == (0,):
        raise RuntimeError(
            "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins "
            "tensor for dimension 0"
        )


def check_range(range):
    """RuntimeError for a range that is none; what is found in the data is checked when it is."""
    if len(range) != 2:
        raise RuntimeError("torch.histogramdd: for a 1-dimensional histogram range should have 2 elements, but got "
                           f"{len(range)}")
    low, high = range
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension 0's range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for "
                           "dimension 0")


def fake_histogram(self, bins, range=None, weight=None, density=False):
    check_histogram(self._shape, self._dtype, bins, None if weight is None else weight._shape)
    for name, other in (("bins", bins), ("weight", weight)):
        if isinstance(other, Tensor) and other._dtype is not self._dtype:
            raise RuntimeError(f"torch.histogram: input tensor and {name} tensor should have the same dtype, but got "
                               f"input with dtype {scalar_type_name(self._dtype)} and {name} with dtype "
                               f"{scalar_type_name(other._dtype)}")
    if isinstance(bins, Tensor) and bins.dim() != 1:
        raise RuntimeError(f"torch.histogram: bins tensor should have one dimension, but got {bins.dim()} dimensions")
    if range is not None:
        check_range(range)
    count = bins if isinstance(bins, int) else bins._shape[0] - 1
    return Fake((count,), self._dtype), Fake((count + 1,), self._dtype)


@operator("histogram", fake=fake_histogram, outputs=("hist", "bin_edges"))
def histogram(self, bins, *, range=None, weight=None, density=False):
    """(hist, bin_edges): counts, or sums of weights, in bins with the given edges.

    `bins`: how many equal bins there are in `range` (the range of the data if left out), or a 1-D tensor of edges.
    `density`: divided by the total and the bins' widths.
    """
    check_histogram(self.shape, dt.from_numpy(self.dtype), bins, None if weight is None else weight.shape)
    if any(isinstance(a, np.ndarray) and a.dtype != self.dtype for a in (bins, weight)):
        raise TypeError("histogram(): two dtypes")
    values = widened(self).reshape(-1)
    edges = bins if isinstance(bins, np.ndarray) else equal_edges(values, bins, range)
    counts, _ = np.histogram(values, edges.astype(np.float64), weights=None if weight is None else weight.reshape(-1))
    if density:
        counts = counts / counts.sum() / np.diff(edges)
    return counts.astype(self.dtype), edges.astype(self.dtype)


def equal_edges(values, bins, wanted):
    low, high = wanted if wanted is not None else (values.min(), values.max()) if values.size else (0.0, 1.0)
    check_range((low, high))
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1)
