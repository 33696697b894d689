"""Distances, areas under samples, windows of signals, and places in a flattened tensor: made of other operators."""
import math

from ..core import dtype as dt
from ..core import geometry, settings
from ..core.dtype import scalar_type_name
from ..tensor import Tensor
from .declare import composite, exports, publish

ops = exports[""]


# ---- distances and norms ------------------------------------------------------------------------------------------

@composite("dist", out=True)
def dist(self, other, p=2):
    """The p-norm of self - other, which broadcast. RuntimeError for integers."""
    return (self - other).norm(p)


@composite("renorm", out=True)
def renorm(self, p, dim, maxnorm):
    """Each part along `dim` scaled down to a p-norm of `maxnorm`, if it is longer. RuntimeError for one dimension."""
    if not p > 0.0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if self.dim() < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.dim()} dimensions")
    others = [d for d in range(self.dim()) if d != dim % self.dim()]
    length = exports["linalg"]["vector_norm"](self, p, others, keepdim=True)
    return self * ops["where"](length > maxnorm, maxnorm / (length + 1e-7), 1.0).to(self.dtype)


def renorm_(self, p, dim, maxnorm):
    """In-place version of `renorm`."""
    return self.copy_(renorm(self, p, dim, maxnorm))


publish("renorm_", renorm_, ("Tensor",))


@composite("cosine_similarity", spaces=("", "nn.functional"))
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """x1 · x2 / (max(|x1|, eps) max(|x2|, eps)) along `dim`."""
    common = ops["promote_types"](x1._dtype, x2._dtype)
    if not common.is_floating_point:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {scalar_type_name(common)}"
        )
    x1, x2 = ops["broadcast_tensors"](x1.to(common), x2.to(common))
    parts = [t / limited_norm(t, dim, eps) for t in (x1, x2)]
    return (parts[0] * parts[1]).sum(dim)


def limited_norm(t, dim, eps):
    """The norm, or eps where that is larger; the gradient is the norm's all the same, as in PyTorch."""
    norm = exports["linalg"]["vector_norm"](t, 2, dim, True)
    if eps <= 0:
        return norm
    limited = norm.detach().clamp_min(eps)
    return norm + (limited - norm.detach())


@composite("pairwise_distance", spaces=("", "nn.functional"))
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of x1 - x2 + eps along the last dimension."""
    longer = x1 if len(x1._shape) > len(x2._shape) else x2
    return (x1 - x2 + eps).norm(p, len(longer._shape) - 1, keepdim)


@composite("norm_except_dim", spaces=("",))
def norm_except_dim(v, pow=2, dim=0):
    """The p-norms, p = `pow`, of the parts along `dim`, which keep the number of dimensions; of the whole for -1."""
    if dim == -1:
        return v.norm(pow)
    others = [d for d in range(v.dim()) if d != geometry.wrap_dim(dim, v.dim())]
    return exports["linalg"]["vector_norm"](v, pow, others, keepdim=True) if others else v.abs()


# ---- areas under samples --------------------------------------------------------------------------------------------

def neighbours(y, dim):
    """All samples but the last, and all but the first. IndexError without a dimension."""
    if y.dim() == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    count = y.shape[dim] - 1
    return y.narrow(dim, 0, count), y.narrow(dim, 1, count)


def widths(y, x, dx, dim, name):
    """How far apart the samples are: differences of x, or dx everywhere."""
    if x is None:
        return 1.0 if dx is None else dx
    if dx is not None:
        raise RuntimeError(f"{name}(): got both x and dx")
    shape_dim = dim if x.dim() == y.dim() else 0
    if x.shape[shape_dim] != y.shape[dim]:
        raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
    left, right = neighbours(x, shape_dim)
    gaps = right - left
    if x.dim() == y.dim():
        return gaps
    return gaps.reshape([-1] + [1] * (y.dim() - 1 - dim % y.dim()))


def trapezoid(y, x=None, *, dx=None, dim=-1):
    """The area under samples `y` at the places `x`, or `dx` (1) apart, by the trapezoidal rule along `dim`."""
    if y.dim() and y.shape[dim] == 0:
        return y.sum(dim).to((y / 2).dtype)
    left, right = neighbours(y, dim)
    return ((left + right) * widths(y, x, dx, dim, "trapezoid")).sum(dim) / 2


def cumulative_trapezoid(y, x=None, *, dx=None, dim=-1):
    """The area up to each sample but the first."""
    left, right = neighbours(y, dim)
    return ((left + right) * widths(y, x, dx, dim, "cumulative_trapezoid")).cumsum(dim) / 2


# ---- places in a flattened tensor --------------------------------------------------------------------------------

def unravel_index(indices, shape):
    """The index in each dimension of `shape` of places in a flattened tensor of that shape: a tuple of tensors.

    TypeError for indices that are no integers.
    """
    if not isinstance(indices, Tensor):
        raise TypeError(f"unravel_index(): argument 'indices' (position 1) must be Tensor, not "
                        f"{type(indices).__name__}")
    if indices.is_floating_point() or indices.dtype is dt.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not sizes:
        return ()
    strides = [math.prod(sizes[d + 1:]) for d in range(len(sizes))]
    places = [indices.div(stride, rounding_mode="floor") % size for stride, size in zip(strides, sizes)]
    return ops["stack"](places, -1).unbind(-1)


# ---- windows ------------------------------------------------------------------------------------------------------

def window(name, shape_of):
    """A function that makes windows: `shape_of(places, length, *parameters)` from the places 0 to length - 1."""
    def make(window_length, periodic=True, *parameters, dtype=None, layout=None, device=None, requires_grad=False,
             pin_memory=False, **named):
        dtype = settings.get_default_dtype() if dtype is None else dtype
        if not dtype.is_floating_point:
            raise RuntimeError(f"{name} expects floating point dtypes, got: {scalar_type_name(dtype)}")
        if window_length < 0:
            raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
        length = window_length + bool(periodic)
        if window_length < 2:
            made = ops["ones"](window_length, dtype=dtype, device=device)
        else:
            places = ops["arange"](length, dtype=dtype, device=device)
            made = shape_of(places, length, *parameters, **named)[:window_length].contiguous()
        return made.requires_grad_(requires_grad)
    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"{name}(window_length, periodic=True, ...): {shape_of.__doc__}"
    publish(name, make, ("",))


def hamming(places, length, alpha=0.54, beta=0.46):
    """alpha - beta * cos(2 pi n / (length - 1))."""
    return alpha - beta * (places * (2 * math.pi / (length - 1))).cos()


def hann(places, length):
    """The square of a sine, from 0 to 0."""
    return hamming(places, length, 0.5, 0.5)


def blackman(places, length):
    """0.42 - 0.5 * cos(2 pi n / (length - 1)) + 0.08 * cos(4 pi n / (length - 1))."""
    angle = places * (2 * math.pi / (length - 1))
    return 0.42 - 0.5 * angle.cos() + 0.08 * (2 * angle).cos()


def bartlett(places, length):
    """A triangle."""
    return 1 - (places * (2 / (length - 1)) - 1).abs()


def kaiser(places, length, beta=12.0):
    """i0(beta * sqrt(1 - y * y)) / i0(beta), with y from -1 to 1."""
    y = places * (2 / (length - 1)) - 1
    return (beta * (1 - y * y).clamp(min=0).sqrt()).i0() / ops["tensor"](beta, dtype=places.dtype).i0()


for _name, _shape in (("hamming_window", hamming), ("hann_window", hann), ("blackman_window", blackman),
                      ("bartlett_window", bartlett), ("kaiser_window", kaiser)):
    window(_name, _shape)
for _function in (trapezoid, cumulative_trapezoid, unravel_index):
    publish(_function.__name__, _function, ("",))
publish("trapz", trapezoid, ("",))
