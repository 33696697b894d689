"""Layer normalisation: each sample to mean 0 and variance 1 over its last dimensions."""

import math

import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..dispatch.state import state
from ..kernels import normalization as kernels
from .arguments import size_argument
from .declare import operator, publish
from .fake import Fake
from .reduction_arrays import PLAIN, widened

OUTPUTS = ("result0", "result1", "result2")  # the normalised input, the means, the reciprocal deviations


# ---- arguments ---


def check_parts(shape, normalized_shape, weight_shape, bias_shape):
    """The weight and bias must have the normalised shape, which the input's must end with."""
    if not normalized_shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []"
        )
    for name, found in (("weight", weight_shape), ("bias", bias_shape)):
        if found is not None and found != normalized_shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(found)} and normalized_shape = {list(normalized_shape)}"
            )
    check_end(shape, normalized_shape, ", ")


def check_end(shape, normalized_shape, separator):
    if shape[-len(normalized_shape) :] != normalized_shape:
        sizes = "".join(f", {size}" for size in normalized_shape).removeprefix(", ")
        raise RuntimeError(
            f"Given normalized_shape={list(normalized_shape)}, expected input with shape "
            f"[*{separator}{sizes}], but got input of size{list(shape)}"
        )


def fake_layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    shapes = [None if t is None else t._shape for t in (weight, bias)]
    check_parts(input._shape, normalized_shape, *shapes)
    if input._dtype.category != dt.FLOATING:
        raise NotImplementedError(f"\"LayerNormKernelImpl\" not implemented for '{scalar_type_name(input._dtype)}'")
    for t in (weight, bias):
        if t is not None and t._dtype is not input._dtype:
            if input._dtype is dt.float64:
                raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
            raise RuntimeError(
                f"mixed dtype (CPU): expect parameter to have scalar type of {scalar_type_name(input._dtype)}"
            )
    statistics = input._shape[: -len(normalized_shape)] + (1,) * len(normalized_shape)
    return Fake(input._shape, input._dtype), Fake(statistics, input._dtype), Fake(statistics, input._dtype)


def as_normalized_shape(value, function):
    if not isinstance(value, (tuple, list)):
        raise TypeError(
            f"{function}(): argument 'normalized_shape' (position 2) must be tuple of ints, not {type(value).__name__}"
        )
    return size_argument(value, function, "normalized_shape")


def last_dims(normalized_shape):
    return tuple(range(-len(normalized_shape), 0))


# ---- derivatives; batch and group norm have the same ---


def input_slope(grad, mean_grad, rstd_grad, normal, rstd, dims):
    """The gradient of x in `normal = (x - mean) * rstd`, whose mean and rstd over `dims` are functions of x too."""
    count = math.prod([normal._shape[d] for d in dims])
    parts = []
    if grad is not None:
        parts.append((grad - grad.mean(dims, True) - normal * (grad * normal).mean(dims, True)) * rstd)
    if mean_grad is not None:
        parts.append((mean_grad / count).expand(normal._shape))
    if rstd_grad is not None:
        parts.append(rstd_grad * rstd * rstd * normal / -count)
    return sum(parts[1:], parts[0]) if parts else None


def normal_tangent(x, x_t, weight, weight_t, bias_t, mean, rstd, dims):
    """Tangents of (x - mean) * rstd * weight + bias, of mean and rstd; `dims`: None if those are constants."""
    normal = (x - mean) * rstd
    out_t, mean_t, rstd_t = normal * 0, mean * 0, mean * 0
    if x_t is not None:
        out_t = x_t * rstd
        if dims is not None:
            mean_t = x_t.mean(dims, True)
            slope = (normal * x_t).mean(dims, True)
            rstd_t = -rstd * rstd * slope
            out_t = (x_t - mean_t - normal * slope) * rstd
        out_t = out_t if weight is None else out_t * weight
    out_t = out_t if weight_t is None else out_t + normal * weight_t
    return (out_t if bias_t is None else out_t + bias_t), mean_t, rstd_t


def slopes(grads, input, normalized_shape, weight, bias, result1, result2, needs):
    """The gradients of input, weight and bias: by one kernel, or by operators where they are to be differentiated."""
    if state.grad_enabled or grads[1] is not None or grads[2] is not None:
        return composed_slopes(grads, input, normalized_shape, weight, result1, result2)
    if grads[0] is None:
        return None, None, None
    found = layer_norm_backward(grads[0], input, normalized_shape, weight, result1, result2)
    return [slope if needed else None for slope, needed in zip(found, needs)]


def composed_slopes(grads, input, normalized_shape, weight, result1, result2):
    """The same from the gradients of all three outputs."""
    grad, *statistics = grads
    normal = (input - result1) * result2
    inner = grad if grad is None or weight is None else grad * weight
    slope = input_slope(inner, *statistics, normal, result2, last_dims(normalized_shape))
    return slope, None if grad is None else grad * normal, grad


def layer_norm_tangent(input_t, weight_t, bias_t, input, normalized_shape, weight, result1, result2):
    """The three outputs' tangents."""
    dims = last_dims(normalized_shape)
    return normal_tangent(input, input_t, weight, weight_t, bias_t, result1, result2, dims)


# ---- operators ---


@operator(
    "native_layer_norm",
    fake=fake_layer_norm,
    outputs=OUTPUTS,
    jvp=layer_norm_tangent,
    out=False,
    spaces=(),
    vjp={"input, weight, bias": slopes},
)
def layer_norm_(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """(input - mean) / sqrt(variance + eps) * weight + bias, the means, and the reciprocals of the square roots."""
    if input.dtype.kind in "biu" or any([t is not None and t.dtype != input.dtype for t in (weight, bias)]):
        raise TypeError("layer_norm: the dtypes do not fit")
    check_parts(input.shape, normalized_shape, *[None if t is None else t.shape for t in (weight, bias)])
    rows, length = math.prod(input.shape[: -len(normalized_shape)]), math.prod(normalized_shape)
    x, weight, bias = as_rows(input, rows, length), as_rows(weight, 1, length), as_rows(bias, 1, length)
    out, mean, rstd = kernels.normalize_rows(x, weight, bias, eps)
    statistics = input.shape[: -len(normalized_shape)] + (1,) * len(normalized_shape)
    found = out.reshape(input.shape), mean.reshape(statistics), rstd.reshape(statistics)
    return found if x.dtype == input.dtype else tuple([a.astype(input.dtype) for a in found])


def as_rows(array, rows, length):
    """A contiguous matrix, a row for what is normalised together; 16-bit floats as float32."""
    if array is None:
        return None
    wide = array if array.dtype.char in PLAIN else widened(array)
    wide = wide if wide.flags.c_contiguous else np.ascontiguousarray(wide)
    return wide.reshape(rows, length)


def fake_layer_norm_backward(grad_output, input, normalized_shape, weight, mean, rstd):
    return Fake(input._shape, input._dtype), *[Fake(normalized_shape, input._dtype)] * 2


@operator("native_layer_norm_backward", fake=fake_layer_norm_backward, outputs=OUTPUTS, out=False, spaces=())
def layer_norm_backward(grad_output, input, normalized_shape, weight, mean, rstd):
    """The gradients of layer norm's input, weight and bias."""
    rows, length = math.prod(input.shape[: -len(normalized_shape)]), math.prod(normalized_shape)
    grad, x, weight = as_rows(grad_output, rows, length), as_rows(input, rows, length), as_rows(weight, 1, length)
    found = kernels.rows_gradient(grad, x, weight, *[widened(a).reshape(-1) for a in (mean, rstd)])
    shapes = input.shape, normalized_shape, normalized_shape
    return tuple([a.reshape(shape).astype(input.dtype, copy=False) for a, shape in zip(found, shapes)])


def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """layer_norm, with the means and the reciprocal deviations, through which no gradient flows."""
    out, mean, rstd = layer_norm_(input, as_normalized_shape(normalized_shape, "native_layer_norm"), weight, bias, eps)
    return out, mean.detach(), rstd.detach()


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    """The input normalised over its last dimensions, of `normalized_shape`: (x - mean) / sqrt(variance +
    eps), times `weight`, plus `bias`. The variance is the biased one (Ba et al. 2016).

    RuntimeError where the shapes do not fit.
    """
    normalized_shape = as_normalized_shape(normalized_shape, "layer_norm")
    if is_mixed(input, weight, bias):
        return layer_norm_(input.float(), normalized_shape, weight, bias, eps)[0].to(input._dtype)
    return layer_norm_(input, normalized_shape, weight, bias, eps)[0]


def is_mixed(input, weight, bias):
    """Whether 16-bit floats meet float32 parameters, as under autocast: they are computed in float32."""
    given = [t for t in (weight, bias) if t is not None]
    return input._dtype in (dt.bfloat16, dt.float16) and bool(given) and all(t._dtype is dt.float32 for t in given)


def functional_layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    return layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """The input divided by the root of its mean square over its last dimensions, times `weight`.

    `eps`: added to the mean square; the dtype's smallest relative step if left out (Zhang and Sennrich 2019).
    """
    normalized_shape = as_normalized_shape(normalized_shape, "rms_norm")
    check_end(input._shape, normalized_shape, "")
    if weight is not None and weight._shape != tuple(normalized_shape):
        raise RuntimeError("Expected weight to be of same shape as normalized_shape, but got weight of shape "
                           f"{list(weight._shape)} and normalized_shape = {list(normalized_shape)}")
    wide = input.float() if input._dtype.itemsize == 2 else input
    eps = dt.finfo(wide._dtype).eps if eps is None else eps
    mean_square = wide.pow(2).mean(last_dims(normalized_shape), True)
    out = wide * (mean_square + eps).rsqrt()
    out = out if weight is None else out * weight
    return out.to(input._dtype)


functional_layer_norm.__name__ = functional_layer_norm.__qualname__ = "layer_norm"
functional_layer_norm.__doc__ = layer_norm.__doc__
publish("native_layer_norm", native_layer_norm, ("",))
publish("layer_norm", layer_norm, ("",))
publish("layer_norm", functional_layer_norm, ("nn.functional",))
publish("rms_norm", rms_norm, ("", "nn.functional"))
