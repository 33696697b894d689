"""Numbers from samples of a function: gradients by differences, histograms with edges."""
import math

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..tensor import Tensor
from .declare import exports, operator, publish
from .fake import Fake
from .reduction_arrays import widened

# ---- gradient ---------------------------------------------------------------------------------------------------


def gradient(input, *, spacing=None, dim=None, edge_order=1):
    """The derivatives of a sampled function along dimensions, by central differences; a list with one tensor for each.

    `spacing`: the distance of neighbours (a number, or one for each dimension), or their coordinates (a list of 1-D
    tensors). `dim`: an int or several; all if left out. `edge_order`: 1 or 2, of the differences at the borders.
    """
    dims = gradient_dims(input, spacing, dim)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if any(input.size(d) < edge_order + 1 for d in dims):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    spacings = spacing if isinstance(spacing, (tuple, list)) else [1.0 if spacing is None else spacing] * len(dims)
    values = input if input._dtype.is_floating_point else input.to(exports[""]["get_default_dtype"]())
    return tuple([slope_along(values, d, s, edge_order) for d, s in zip(dims, spacings)])


def gradient_dims(input, spacing, dim):
    """The dimensions meant. RuntimeError where one appears twice, or the spacings are of another number."""
    given = range(input.dim()) if dim is None else [dim] if isinstance(dim, int) else dim
    dims = geometry.wrap_dims(tuple(given), input.dim())
    if isinstance(spacing, (tuple, list)) and len(spacing) != len(dims):
        wanted = (f"'self.dim() = {input.dim()}', since dim argument was not given" if dim is None
                  else f"dim (= {len(dims)})")
        raise RuntimeError("torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
                           f"{wanted}, but got a list of length {len(spacing)}")
    return dims


def slope_along(f, dim, spacing, edge_order):
    """Differences along one dimension; between equal distances the weights of three neighbours are (-1/2, 0, 1/2)."""
    count = f.size(dim)
    steps = steps_of(f, dim, spacing)

    def at(start, length):
        return f.narrow(dim, start, length)

    first, last = (at(1, 1) - at(0, 1)) / steps[0], (at(count - 1, 1) - at(count - 2, 1)) / steps[-1]
    if edge_order == 2:
        first = weighted(at, 0, edge_weights(steps[0], steps[1], -1))
        last = weighted(at, count - 3, edge_weights(steps[-1], steps[-2], 1)[::-1])
    parts = [first]
    if count > 2:
        parts.append(inner_slopes(f, dim, spacing, steps, count))
    return exports[""]["cat"]([*parts, last], dim)


def steps_of(f, dim, spacing):
    """The distances between neighbours, as Python numbers."""
    if isinstance(spacing, Tensor) and spacing.dim():
        return spacing.diff().tolist()
    return [float(spacing)] * (f.size(dim) - 1)


def inner_slopes(f, dim, spacing, steps, count):
    before, here, after = (f.narrow(dim, i, count - 2) for i in range(3))
    if not (isinstance(spacing, Tensor) and spacing.dim()):
        return (after - before) / (2 * float(spacing))
    shape = [-1 if d == dim else 1 for d in range(f.dim())]
    left, right = [exports[""]["tensor"](part, dtype=f.dtype).view(shape) for part in (steps[:-1], steps[1:])]
    return (-right / (left * (left + right)) * before + (right - left) / (left * right) * here
            + left / (right * (left + right)) * after)


def edge_weights(near, far, sign):
    """Weights of the three values from an edge inwards, for a derivative of second order there."""
    return (sign * (2 * near + far) / (near * (near + far)), -sign * (near + far) / (near * far),
            sign * near / (far * (near + far)))


def weighted(at, start, weights):
    a, b, c = [at(start + i, 1) * w for i, w in enumerate(weights)]
    return a + b + c


publish("gradient", gradient, ("",))


# ---- histogram ----------------------------------------------------------------------------------------------------

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
