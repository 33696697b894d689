"""Reductions and normalisations of the elements that a mask leaves (torch.masked), made of other operators.

`mask` is True where an element counts, None where all do, and is broadcast to the input; other dtypes become bool.
What is masked out is replaced by the operation's identity, such as 0 in a sum. `dim` is an int, a tuple of ints, or
None or () for all dimensions; `dtype` is the result's, the input's if left out. Unlike PyTorch's, these functions take
strided tensors only, and there is no class MaskedTensor.

Errors of all: IndexError for a mask of more dimensions than the input, and for a dim that it has not; RuntimeError for
a mask that cannot be broadcast, and for a dim that is named twice; ValueError for another layout.
"""
from .core import dtype as dt
from .core.layout import strided
from .ops.declare import exports

__all__ = ["amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean",
           "median", "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var"]

_torch = exports[""]


# ---- masks, identities, dimensions -------------------------------------------------------------------------------

def _mask_for(input, mask):
    """The mask as bools of the input's shape; all True for None."""
    if mask is None:
        return _torch["ones"](input.shape, dtype=dt.bool, device=input.device)
    if mask.ndim > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    mask = mask if mask.layout is strided else mask.to_dense()
    return _torch["broadcast_to"](mask, input.shape).to(dt.bool)


def _filled(name, input, mask, identity):
    """The input with `identity` where the mask is False; a function of the operation and the dtype makes it."""
    if input.layout is not strided:
        raise ValueError(f"masked {name} expects strided tensor (got {input.layout} tensor)")
    if mask is None:
        return input
    number = _torch["tensor"](identity(name, input.dtype), dtype=input.dtype, device=input.device)
    return _torch["where"](_mask_for(input, mask), input, number)


def _zero(name, dtype):
    return 0


def _one(name, dtype):
    return 1


def _nan(name, dtype):
    return float("nan")


def _lowest(name, dtype):
    """The number that is below all others, for maxima."""
    return -float("inf") if dtype.is_floating_point else _limits(name, dtype).min


def _highest(name, dtype):
    """The number that is above all others, for minima."""
    return float("inf") if dtype.is_floating_point else _limits(name, dtype).max


def _limits(name, dtype):
    if dtype is dt.bool:
        raise NotImplementedError(f"identity of {name} on {dtype} input")
    return dt.iinfo(dtype)


def _dims(dim, ndim):
    """The dimensions of a reduction as a sorted tuple of numbers from 0."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    ndim, found = max(ndim, 1), []
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        if not -ndim <= d < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {d})")
        found.append(d % ndim)
    return tuple(sorted(found))


def _sum_dtype(input, dtype):
    """The dtype of a sum or product: int64 for small integers and bools."""
    if dtype is not None:
        return dtype
    return input.dtype if input.dtype.is_floating_point else dt.int64


# ---- reductions --------------------------------------------------------------------------------------------------

def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum; 0 where all is masked out. Integers give int64 unless `dtype` is given."""
    dims = _dims(dim, input.ndim)
    return _filled("sum", input, mask, _zero).sum(dims, bool(keepdim), dtype=_sum_dtype(input, dtype))


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product; 1 where all is masked out. Integers give int64 unless `dtype` is given."""
    dims = _dims(dim, input.ndim)
    found = _filled("prod", input, mask, _one).to(_sum_dtype(input, dtype))
    for d in reversed(dims):
        found = found.prod(d, bool(keepdim))
    return found


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The largest element; the dtype's lowest number where all is masked out."""
    filled = _filled("amax", input, mask, _lowest)
    return filled.amax(_dims(dim, input.ndim), bool(keepdim)).to(dtype or input.dtype)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The smallest element; the dtype's highest number where all is masked out."""
    filled = _filled("amin", input, mask, _highest)
    return filled.amin(_dims(dim, input.ndim), bool(keepdim)).to(dtype or input.dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the largest element is, an index in the input's dtype unless `dtype` is given; dim is one int or None."""
    return _filled("argmax", input, mask, _lowest).argmax(dim, bool(keepdim)).to(dtype or input.dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the smallest element is, an index in the input's dtype unless `dtype` is given; dim is one int or None."""
    return _filled("argmin", input, mask, _highest).argmin(dim, bool(keepdim)).to(dtype or input.dtype)


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean; NaN where all is masked out. ValueError for a dtype that is not floating."""
    result = dtype or input.dtype
    if not result.is_floating_point:
        source = "Input" if dtype is None else "Optional"
        raise ValueError(f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or "
                         f"complex dtype. Got: {result}")
    total = sum(input, dim, keepdim=keepdim, dtype=result, mask=mask)
    return total / _mask_for(input, mask).sum(_dims(dim, input.ndim), bool(keepdim))


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The median along one dimension, the lower one of two; NaN where all is masked out, ValueError for integers."""
    is_float = input.dtype.is_floating_point
    filled = _filled("median", input if is_float else input.to(dt.float32), mask, _nan)
    found = filled.nanmedian(_dims(dim, input.ndim)[0], keepdim)[0]
    if is_float:
        return found
    if found.isnan().any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return found.to(dtype or input.dtype)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The logarithm of the sum of exponentials; -inf where all is masked out."""
    filled = _filled("logsumexp", input, mask, _lowest)
    return filled.logsumexp(_dims(dim, input.ndim), keepdim).to(dtype or input.dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The vector norm of order `ord`; 0 where all is masked out, inf for an order of -inf."""
    identity = _highest if ord == -float("inf") else _zero
    filled = _filled("norm", input, mask, identity)
    dims = _dims(dim, input.ndim)
    return exports["linalg"]["vector_norm"](filled, ord, dims, bool(keepdim), dtype=dtype or input.dtype)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance, divided by the count less `correction` (1 unless given; 0 if `unbiased` is False); NaN or inf where
    too few elements are left. Integers give float32. AssertionError for both `unbiased` and `correction`."""
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 0 if unbiased is False else 1
    if dtype is None:
        dtype = input.dtype if input.dtype.is_floating_point else dt.float32
    return _variance(input, dim, correction, keepdim, dtype, _mask_for(input, mask))


def _variance(input, dim, correction, keepdim, dtype, mask):
    count = mask.sum(_dims(dim, input.ndim), True)
    distance = input - sum(input, dim, keepdim=True, dtype=dtype, mask=mask) / count
    total = sum(distance * distance, dim, keepdim=keepdim, mask=mask,
                dtype=dtype if dtype.is_floating_point else dt.float32)
    count = (count.to(total.dtype) - correction).clamp(min=0).reshape(total.shape)
    return (total / count).to(dtype)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The square root of `var`."""
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask).sqrt()


# ---- of each element ---------------------------------------------------------------------------------------------

def cumsum(input, dim, *, dtype=None, mask=None):
    """Sums of the elements up to each one."""
    filled = _filled("cumsum", input, mask, _zero)
    return filled.cumsum(_dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """Products of the elements up to each one."""
    filled = _filled("cumprod", input, mask, _one)
    return filled.cumprod(_dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def softmax(input, dim, *, dtype=None, mask=None):
    """softmax along one dimension: 0 where masked out, NaN where all is."""
    filled = _filled("softmax", input, mask, _lowest)
    return filled.softmax(_dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def log_softmax(input, dim, *, dtype=None, mask=None):
    """The logarithm of `softmax`: -inf where masked out."""
    filled = _filled("log_softmax", input, mask, _lowest)
    return filled.log_softmax(_dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def softmin(input, dim, *, dtype=None, mask=None):
    """softmax of the negated input."""
    filled = _filled("softmin", input, mask, _highest)
    return (-filled).softmax(_dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """The input divided by its `norm` along one dimension, which is at least `eps`; 0 where masked out."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _filled("normalize", input, mask, _zero) / length.clamp(min=eps)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """log(exp(input) + exp(other)), each with its own mask; -inf where both are masked out."""
    first = _filled("logaddexp", input, input_mask, _lowest)
    return _torch["logaddexp"](first, _filled("logaddexp", other, other_mask, _lowest)).to(dtype or input.dtype)
