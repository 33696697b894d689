"""Normalisation by channel: batch and instance norm, and the smaller ones made of other operators.

In training batch norm divides by the biased deviation and keeps the unbiased variance (Ioffe and Szegedy
2015). The means and reciprocal deviations are results like the others, so that formulas made of them can be
differentiated again.
"""

import math

import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..dispatch.state import state
from ..kernels import normalization as kernels
from ..kernels.pointwise import silently
from ..tensor import Size
from .arguments import refuse_gradient, require_bool
from .declare import exports, operator, publish
from .fake import Fake
from .normalization import input_slope, normal_tangent
from .reduction_arrays import widened

OUTPUTS = ("result0", "result1", "result2")  # the normalised input, the means, the reciprocal deviations


def refuse_integers(dtype, kernel):
    if not dtype.is_floating_point:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type_name(dtype)}'")


def check_parameter_dtypes(dtype, dtypes):
    """Parameters have the input's dtype, or are float32 beside 16-bit floats."""
    for found in dtypes:
        if found is None or found is dtype or dtype.itemsize == 2 and found is dt.float32:
            continue
        if dtype is dt.float64:
            raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
        raise RuntimeError(
            f"mixed dtype (CPU): expect parameter to have scalar type of {scalar_type_name(dtype)}"
        )


# ---- batch norm ---


def check_batch_norm(shape, parts, dtype, dtypes, training):
    """`parts`: (name, shape or None) of weight, bias, running_mean and running_var."""
    found = dict(parts)
    channels = shape[1] if len(shape) > 1 else 0
    for name in ("running_mean", "running_var", "weight", "bias"):
        if found[name] is None and not training and name.startswith("running"):
            raise RuntimeError(f"{name} must be defined in evaluation mode")
        if found[name] is not None and math.prod(found[name]) != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {math.prod(found[name])}")
    if (found["running_mean"] is None) != (found["running_var"] is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if len(shape) < 2:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-len(shape)}, {len(shape) - 1}], but "
            "got 1)"
        )
    refuse_integers(dtype, "batch_norm")
    check_parameter_dtypes(dtype, dtypes)


NAMES = ("weight", "bias", "running_mean", "running_var")


def fake_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    given = (weight, bias, running_mean, running_var)
    check_batch_norm(
        input._shape,
        [(n, None if t is None else t._shape) for n, t in zip(NAMES, given)],
        input._dtype,
        [None if t is None else t._dtype for t in given],
        training,
    )
    channels = input._shape[1:2]
    statistics = dt.float32 if input._dtype.itemsize == 2 else input._dtype
    return Fake(input._shape, input._dtype), Fake(channels, statistics), Fake(channels, statistics)


def per_channel(t, ndim):
    """A value per channel, to broadcast against (N, C, ...)."""
    return t.view([-1] + [1] * (ndim - 2))


def channel_dims(ndim):
    return [0, *range(2, ndim)]


def batch_norm_slopes(grads, input, weight, running_mean, running_var, training, result1, result2, needs):
    """From the gradients of the three outputs to those of input, weight and bias.

    The running statistics are saved, as in PyTorch, for their versions alone: a change by hand before
    backward is refused.
    """
    if state.grad_enabled or grads[1] is not None or grads[2] is not None:
        return composed_batch_norm_slopes(grads, input, weight, training, result1, result2)
    if grads[0] is None:
        return None, None, None
    found = native_batch_norm_backward(grads[0], input, weight, result1, result2, training)
    return [slope if needed else None for slope, needed in zip(found, needs)]


def composed_batch_norm_slopes(grads, input, weight, training, result1, result2):
    ndim = len(input._shape)
    dims = channel_dims(ndim)
    mean, rstd = per_channel(result1, ndim), per_channel(result2, ndim)
    normal = (input - mean) * rstd
    grad, mean_grad, rstd_grad = grads
    inner = None if grad is None else grad if weight is None else grad * per_channel(weight, ndim)
    statistics = [None if g is None else per_channel(g, ndim) for g in (mean_grad, rstd_grad)]
    if training:
        slope = input_slope(inner, *statistics, normal, rstd, dims)
    else:
        slope = None if inner is None else inner * rstd
    if grad is None:
        return slope, None, None
    return slope, (grad * normal).sum(dims), grad.sum(dims)


def batch_norm_tangent(input_t, weight_t, bias_t, input, weight, training, result1, result2):
    """The three outputs' tangents."""
    ndim = len(input._shape)
    dims = channel_dims(ndim) if training else None
    shapes = [
        None if t is None else per_channel(t, ndim) for t in (weight, weight_t, bias_t, result1, result2)
    ]
    out_t, mean_t, rstd_t = normal_tangent(input, input_t, *shapes, dims)
    return out_t, mean_t.reshape(result1._shape), rstd_t.reshape(result1._shape)


@operator(
    "native_batch_norm",
    spaces=(),
    out=False,
    outputs=OUTPUTS,
    fake=fake_batch_norm,
    jvp=batch_norm_tangent,
    vjp={"input, weight, bias": batch_norm_slopes},
    format_of=("input",),
)
def batch_norm_(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """(input - mean) / sqrt(variance + eps) * weight + bias by channel, the means, the reciprocals of the square roots.

    Mean and variance are the batch's in `training`, which also move the running ones; else the running ones.
    """
    check_batch_arrays(input, (weight, bias, running_mean, running_var), training)
    return silently(batch_norm_of, input, weight, bias, running_mean, running_var, training, momentum, eps)


def check_batch_arrays(input, given, training):
    check_batch_norm(
        input.shape,
        [(n, None if a is None else a.shape) for n, a in zip(NAMES, given)],
        dt.from_numpy(input.dtype),
        [None if a is None else dt.from_numpy(a.dtype) for a in given],
        training,
    )


def as_channels(array):
    """A contiguous (batch, channels, places)."""
    return np.ascontiguousarray(array).reshape(*array.shape[:2], math.prod(array.shape[2:]))


def batch_norm_of(input, weight, bias, running_mean, running_var, training, momentum, eps):
    x = as_channels(widened(input))
    weight, bias = [None if a is None else a.reshape(-1).astype(x.dtype, copy=False) for a in (weight, bias)]
    if training:
        mean, variance = kernels.channel_statistics(x) if x.size else [np.zeros(x.shape[1], x.dtype)] * 2
        move(running_mean, mean, momentum)
        count = x.shape[0] * x.shape[2]
        move(running_var, variance * (count / (count - 1) if count > 1 else math.nan), momentum)
    else:
        mean, variance = [a.reshape(-1).astype(x.dtype) for a in (running_mean, running_var)]
    rstd = 1 / np.sqrt(variance + x.dtype.type(eps))
    found = kernels.scale_channels(x, mean, rstd, weight, bias)
    return found.reshape(input.shape).astype(input.dtype, copy=False), mean, rstd


def move(running, batch, momentum):
    """Move a running statistic towards the batch's, in place."""
    if running is not None:
        running[...] = (1 - momentum) * running + momentum * batch.astype(running.dtype)


@operator(
    "native_batch_norm_backward",
    spaces=(),
    out=False,
    outputs=OUTPUTS,
    format_of=("input",),
    fake=lambda grad_output, input, weight, mean, rstd, training: (
        Fake(input._shape, input._dtype),
        Fake(mean._shape, mean._dtype),
        Fake(mean._shape, mean._dtype),
    ),
)
def native_batch_norm_backward(grad_output, input, weight, mean, rstd, training):
    """The gradients of batch norm's input, weight and bias."""
    x, grad = as_channels(widened(input)), as_channels(widened(grad_output))
    weight = None if weight is None else weight.reshape(-1).astype(x.dtype, copy=False)
    slope, weight_grad, bias_grad = silently(kernels.channels_gradient, grad, x, mean, rstd, weight, training)
    return slope.reshape(input.shape).astype(input.dtype, copy=False), weight_grad, bias_grad


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True):
    """Batch normalisation of (N, C, ...) by channel, in the argument order of the operator."""
    refuse_gradient("native_batch_norm", "running_mean", running_mean)
    refuse_gradient("native_batch_norm", "running_var", running_var)
    if 0 in input._shape:
        return nothing_normalised(input, weight, bias)
    return batch_norm_(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def nothing_normalised(input, weight, bias):
    """The result for no elements, a function of all that requires grad."""
    out = input.clone()
    out = out if weight is None else out * weight[0]
    return out if bias is None else out + bias[0]


def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """batch_norm, with the batch's means and reciprocal deviations; empty unless `training`."""
    out, mean, rstd = batch_norm_(input, weight, bias, running_mean, running_var, training, momentum, eps)
    return (out, mean.detach(), rstd.detach()) if training else (out, mean.new_empty(0), mean.new_empty(0))


def check_batch_size(size):
    """In training the variance needs more than one value."""
    if math.prod(size[:1] + size[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {Size(size)}")


def functional_batch_norm(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05
):
    """(input - mean) / sqrt(variance + eps) * weight + bias for each channel of (N, C, ...).

    Args:
        running_mean, running_var: (C,), used unless `training`; in training moved, in place, by `momentum`
            towards the batch's mean and unbiased variance. None in training: not kept.
        weight, bias: (C,) or None.
    Raises:
        ValueError: one value per channel in training, or an eps that is no positive number then.
    """
    if training:
        check_batch_size(input._shape)
    if training and eps <= 0.0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    require_bool(training, "batch_norm", "training", 6)
    if momentum is None:
        raise TypeError("batch_norm(): argument 'momentum' (position 7) must be float, not NoneType")
    return batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


functional_batch_norm.__name__ = functional_batch_norm.__qualname__ = "batch_norm"
publish("batch_norm", batch_norm, ("",))
publish("native_batch_norm", native_batch_norm, ("",))
publish("batch_norm", functional_batch_norm, ("nn.functional",))


# ---- instance norm ---


def instance_norm(
    input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled=True
):
    """Batch norm of every sample on its own: the samples become channels."""
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    batch, channels, *space = input._shape
    repeated = [None if t is None else t.repeat(batch) for t in (weight, bias, running_mean, running_var)]
    joined = input.contiguous().view((1, batch * channels, *space))
    found = batch_norm(joined, *repeated, use_input_stats, momentum, eps)
    if use_input_stats:
        for statistic, moved in ((running_mean, repeated[2]), (running_var, repeated[3])):
            if statistic is not None:
                statistic.detach().copy_(moved.view((batch, channels)).mean(0))
    return found.view(input._shape)


def functional_instance_norm(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-05,
):
    """Normalisation of each channel of each sample of (N, C, ...); arguments as for batch_norm.

    `use_input_stats`: whether by the sample's own mean and variance, else by the running ones. ValueError for
    one value per channel.
    """
    if use_input_stats and math.prod(input._shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {Size(input._shape)}"
        )
    return instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


functional_instance_norm.__name__ = functional_instance_norm.__qualname__ = "instance_norm"
publish("instance_norm", instance_norm, ("",))
publish("instance_norm", functional_instance_norm, ("nn.functional",))


# ---- made of other operators ---


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """The input divided by its p-norm along `dim`, or by `eps` where that is larger."""
    norm = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / norm if out is None else exports[""]["div"](input, norm, out=out)


def local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0):
    """input / (k + alpha * mean of squares over `size` neighbouring channels) ** beta (Krizhevsky et al. 2012)."""
    ndim = len(input._shape)
    if ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {ndim} dimensions)"
        )
    if not input.numel():
        return input
    F = exports["nn.functional"]
    squares = input.mul(input).unsqueeze(1)
    before, after = size // 2, (size - 1) // 2
    if ndim == 3:
        mean = F["avg_pool2d"](F["pad"](squares, (0, 0, before, after)), (size, 1), stride=1).squeeze(1)
    else:
        shape = input._shape
        volumes = squares.view(shape[0], 1, shape[1], shape[2], -1)
        padded = F["pad"](volumes, (0, 0, 0, 0, before, after))
        mean = F["avg_pool3d"](padded, (size, 1, 1), stride=1).squeeze(1).view(shape)
    return input / mean.mul(alpha).add(k).pow(beta)


for _function in (normalize, local_response_norm):
    publish(_function.__name__, _function, ("nn.functional",))
