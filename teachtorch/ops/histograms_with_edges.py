"""Histograms with edges, of one dimension and of several. (`histc` is in histograms.py.)"""
import functools
import math

import numpy as np

from ..core import dtype as dt
from ..core.dtype import cpp_name, scalar_type_name
from ..tensor import Tensor
from .declare import composite, operator
from .fake import Fake
from .pointwise import name_not_implemented, no_formula
from .reduction_arrays import widened
from .return_types import return_type

# ---- one dimension -----------------------------------------------------------------------------------------------


def check_histogram(shape, dtype, bins, weight_shape):
    require_floating(dtype)
    if weight_shape is not None and tuple(weight_shape) != tuple(shape):
        raise RuntimeError("torch.histogramdd: if weight tensor is provided it should have the same shape as the input "
                           "tensor excluding its innermost dimension, but got input with shape "
                           f"{[math.prod(shape), 1]} and weight with shape {list(weight_shape)}")
    if isinstance(bins, int):
        check_count(bins)
    if not isinstance(bins, int) and bins.shape == (0,):
        raise no_edges()


def require_floating(dtype, smallest=2):
    if not dtype.is_floating_point or dtype.itemsize < smallest:
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{scalar_type_name(dtype)}'")


def check_count(bins, dim=0):
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension {dim}")


def no_edges(dim=0):
    return RuntimeError("torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins "
                        f"tensor for dimension {dim}")


def check_range(range, dimensions=1):
    """RuntimeError for a range that is none (two numbers per dimension)."""
    if len(range) != 2 * dimensions:
        raise RuntimeError(f"torch.histogramdd: for a {dimensions}-dimensional histogram range should have "
                           f"{2 * dimensions} elements, but got {len(range)}")
    for dim, (low, high) in enumerate(zip(range[::2], range[1::2])):
        check_bounds(low, high, dim)


def check_bounds(low, high, dim=0):
    """The same for the bounds of one dimension, given or found in the data."""
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension {dim}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for "
                           f"dimension {dim}")


def fake_histogram(self, bins=None, range=None, weight=None, density=False):
    bins = 100 if bins is None else bins
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


def refuse_derivative(grads):
    return no_formula("histogram")(grads)


@operator("histogram", fake=fake_histogram, outputs=("hist", "bin_edges"), vjp={"self": refuse_derivative})
def histogram(self, bins=None, *, range=None, weight=None, density=False):
    """(hist, bin_edges): counts, or sums of weights, in bins with the given edges.

    `bins`: how many equal bins there are (100 if left out) in `range` (the range of the data if left out), or a 1-D
    tensor of edges. `density`: divided by the total and the bins' widths.
    """
    bins = 100 if bins is None else bins
    check_histogram(self.shape, dt.from_numpy(self.dtype), bins, None if weight is None else weight.shape)
    if any(isinstance(a, np.ndarray) and a.dtype != self.dtype for a in (bins, weight)):
        raise TypeError("histogram(): two dtypes")
    values = widened(self).reshape(-1)
    edges = bins if isinstance(bins, np.ndarray) else equal_edges(values, bins, range)
    counts = counted(values[:, None], [edges], None if weight is None else weight.reshape(-1), density)
    return counts.astype(self.dtype), edges.astype(self.dtype)


def equal_edges(values, bins, wanted, dim=0):
    low, high = wanted if wanted is not None else (values.min(), values.max()) if values.size else (0.0, 1.0)
    check_bounds(low, high, dim)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1)


# ---- several dimensions ------------------------------------------------------------------------------------------

def fake_edges(self, bins, range=None, dim=0):
    require_floating(self._dtype, 4)
    check_count(bins, dim)
    return Fake((bins + 1,), self._dtype)


@operator("_histogramdd_bin_edges", fake=fake_edges, spaces=(), out=False)
def bin_edges(self, bins, range=None, dim=0):
    """The edges of `bins` equal bins for the coordinates `self`, of which `range` may tell the bounds."""
    return equal_edges(self, bins, range, dim).astype(self.dtype)


def fake_counts(self, bins, weight=None, density=False):
    check_points(self, bins)
    check_weight(self, weight)
    return Fake([edges._shape[0] - 1 for edges in bins], self._dtype)


@operator("_histogramdd_from_bin_tensors", fake=fake_counts, spaces=(), out=False,
          vjp={"self": no_formula("_histogramdd_from_bin_tensors"),
               "weight": no_formula("_histogramdd_from_bin_tensors")})
def counts_between(self, bins, weight=None, density=False):
    """How many points of `self` (..., d), or what sum of their weights (...), lie in each box of a grid of `d` edges."""
    points = self.reshape(math.prod(self.shape[:-1]), self.shape[-1])
    return counted(points, bins, None if weight is None else weight.reshape(-1), density).astype(self.dtype)


for _op in ("histogram", "_histogramdd_from_bin_tensors"):
    name_not_implemented(_op)


def counted(points, bins, weight, density):
    """Each point's box, numbered from 0, and how often each number occurs."""
    shape = [len(edges) - 1 for edges in bins]
    box, is_inside = np.zeros(len(points), np.int64), np.ones(len(points), bool)
    for values, edges in zip(points.T, bins):
        is_inside &= (values >= edges[0]) & (values <= edges[-1])
        place = upper_bound(edges, values) - 1
        box = box * (len(edges) - 1) + place.clip(0, len(edges) - 2)        # the last bin has its right edge, too
    weights = None if weight is None else weight[is_inside]
    counts = np.bincount(box[is_inside], weights, math.prod(shape)).reshape(shape)
    if density and bins:
        counts = counts / counts.sum() / functools.reduce(np.multiply, np.ix_(*map(np.diff, bins)))
    return counts


def upper_bound(edges, values):
    """How many edges lie at or below each value, by bisection. Of edges in no order it finds what C++'s does, and so
    PyTorch's."""
    first, count = np.zeros(len(values), np.int64), np.full(len(values), len(edges))
    while count.any():
        middle = first + count // 2
        is_above = ~(values < edges[middle.clip(max=len(edges) - 1)]) & (count > 0)
        first, count = np.where(is_above, middle + 1, first), np.where(is_above, count - count // 2 - 1, count // 2)
    return first


@composite("histogramdd", spaces=("",))
def histogramdd(self, bins, range=None, weight=None, density=False):
    """(hist, bin_edges): counts, or sums of weights, of points in the boxes of a grid.

    Args:
        self: the points (..., d) of d coordinates each, float32 or float64.
        bins: how many equal bins there are in each dimension (one int for all), or a list of d 1-D tensors of edges.
        range: the least and the greatest edge of each dimension, 2 d numbers; those of the data if left out.
        weight: one for each point, (...).
        density: divide by the total and the boxes' volumes.

    Returns:
        hist, of one dimension for each coordinate, and a tuple of d tensors of edges. Without gradients.
    """
    bins = check_points(self, bins)
    check_weight(self, weight)
    edges = bins if not bins or isinstance(bins[0], Tensor) else equal_bins(self, bins, range)
    hist = counts_between(self, edges, weight, density)
    return return_type("histogramdd", ("hist", "bin_edges"))(hist, tuple(edges))


def equal_bins(self, bins, range):
    """The edges of as many equal bins in each dimension."""
    if range is not None:
        check_range(range, len(bins))
    bounds = [None] * len(bins) if range is None else list(zip(range[::2], range[1::2]))
    return [bin_edges(self.select(-1, dim), count, bounds[dim], dim) for dim, count in enumerate(bins)]


def check_points(self, bins):
    """The bins as a list, one for each coordinate. RuntimeError where they do not fit."""
    if self.dim() < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    require_floating(self._dtype, 4)
    bins = [bins] * self._shape[-1] if isinstance(bins, int) else list(bins)
    if len(bins) != self._shape[-1]:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    for dim, given in enumerate(bins):
        check_edges(self, given, dim) if isinstance(given, Tensor) else check_count(given, dim)
    return bins


def check_edges(self, edges, dim):
    start = "torch.histogramdd: "
    if edges._dtype is not self._dtype:
        raise RuntimeError(f"{start}input tensor and bins tensors should have the same dtype, but got input with dtype "
                           f"{cpp_name(self._dtype)} and bins for dimension {dim} with dtype {cpp_name(edges._dtype)}")
    if edges.dim() != 1:
        raise RuntimeError(f"{start}bins tensor should have one dimension, but got {edges.dim()} dimensions in the "
                           f"bins tensor for dimension {dim}")
    if edges._shape[0] == 0:
        raise no_edges(dim)
    check_count(edges._shape[0] - 1, dim)


def check_weight(self, weight):
    if weight is None:
        return
    start = "torch.histogramdd: if weight tensor is provided"
    if weight._dtype is not self._dtype:
        raise RuntimeError(f"{start}, input tensor and weight tensor should have the same dtype, but got "
                           f"input({cpp_name(self._dtype)}), and weight({cpp_name(weight._dtype)})")
    if weight._shape != self._shape[:-1]:
        raise RuntimeError(f"{start} it should have the same shape as the input tensor excluding its innermost "
                           f"dimension, but got input with shape {list(self._shape)} and weight with shape "
                           f"{list(weight._shape)}")
