"""Group norm: each group of channels of each sample to mean 0 and variance 1 (Wu and He 2018)."""

import math

import numpy as np

from ..core import dtype as dt
from ..core.layout import suggested
from ..dispatch.state import state
from ..kernels import normalization as kernels
from ..kernels.pointwise import silently
from ..tensor import stride_of
from .batch_norm import OUTPUTS, check_parameter_dtypes, refuse_integers
from .declare import operator, publish
from .fake import Fake
from .normalization import input_slope, normal_tangent
from .reduction_arrays import widened


def check_group_norm(shape, weight_shape, bias_shape, groups):
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {groups}")
    if shape[1] % groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(shape)} and num_groups={groups}"
        )
    for name, found in (("weight", weight_shape), ("bias", bias_shape)):
        if found not in (None, (shape[1],)):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but "
                f"got {name} of shape {list(weight_shape if weight_shape else found)} and input of "
                f"shape {list(shape)}"
            )


def fake_group_norm(input, weight, bias, N, C, HxW, group, eps):
    check_group_norm(input._shape, *[None if t is None else t._shape for t in (weight, bias)], group)
    refuse_integers(input._dtype, "GroupNormKernelImpl")
    check_parameter_dtypes(input._dtype, [None if t is None else t._dtype for t in (weight, bias)])
    if input.numel() != N * C * HxW:
        raise RuntimeError("Expected X.numel() == N * C * HxW to be true, but got false.  (Could this error message be "
                           "improved?  If so, please report an enhancement request to PyTorch.)")
    statistics = Fake((N, group), input._dtype)
    return Fake(input._shape, input._dtype), statistics, Fake((N, group), input._dtype)


def grouped(t, N, group):
    return t.reshape((N, group, math.prod(t._shape[1:]) // group))


def group_parts(weight, C, HxW, group):
    """A value per channel as (1, groups, elements of a group)."""
    return weight.view((1, C, 1)).expand((1, C, HxW)).reshape((1, group, C // group * HxW))


def group_norm_slopes(grads, input, weight, N, C, HxW, group, result1, result2, needs):
    if state.grad_enabled or grads[1] is not None or grads[2] is not None:
        return composed_group_norm_slopes(grads, input, weight, N, C, HxW, group, result1, result2)
    if grads[0] is None:
        return None, None, None
    found = native_group_norm_backward(grads[0], input, weight, result1, result2, N, C, HxW, group)
    return [slope if needed else None for slope, needed in zip(found, needs)]


def composed_group_norm_slopes(grads, input, weight, N, C, HxW, group, result1, result2):
    mean, rstd = result1.unsqueeze(-1), result2.unsqueeze(-1)
    normal = (grouped(input, N, group) - mean) * rstd
    grad = None if grads[0] is None else grouped(grads[0], N, group)
    inner = grad if grad is None or weight is None else grad * group_parts(weight, C, HxW, group)
    statistics = [None if g is None else g.unsqueeze(-1) for g in grads[1:]]
    slope = input_slope(inner, *statistics, normal, rstd, [2])
    slope = None if slope is None else slope.reshape(input._shape)
    if grad is None:
        return slope, None, None
    return slope, (grad * normal).reshape((N, C, HxW)).sum([0, 2]), grad.reshape((N, C, HxW)).sum([0, 2])


def group_norm_tangent(input_t, weight_t, bias_t, input, weight, N, C, HxW, group, result1, result2):
    x, x_t = grouped(input, N, group), None if input_t is None else grouped(input_t, N, group)
    parts = [None if t is None else group_parts(t, C, HxW, group) for t in (weight, weight_t, bias_t)]
    out_t, mean_t, rstd_t = normal_tangent(x, x_t, *parts, result1.unsqueeze(-1), result2.unsqueeze(-1), [2])
    return out_t.reshape(input._shape), mean_t.squeeze(-1), rstd_t.squeeze(-1)


def channels_and_weights(input, weight, bias, N, C, HxW):
    """The input as (batch, channels, places), weight and bias, all in the dtype that is computed in."""
    x = np.ascontiguousarray(widened(input)).reshape(N, C, HxW)
    return x, *[None if a is None else a.astype(x.dtype, copy=False) for a in (weight, bias)]


@operator(
    "native_group_norm",
    spaces=(),
    out=False,
    outputs=OUTPUTS,
    fake=fake_group_norm,
    jvp=group_norm_tangent,
    vjp={"input, weight, bias": group_norm_slopes},
    format_of=("input",),
)
def group_norm_(input, weight, bias, N, C, HxW, group, eps):
    """(input - mean) / sqrt(variance + eps) * weight + bias, with mean and variance of each group of channels."""
    check_group_norm(input.shape, *[None if a is None else a.shape for a in (weight, bias)], group)
    refuse_integers(dt.from_numpy(input.dtype), "GroupNormKernelImpl")
    check_parameter_dtypes(
        dt.from_numpy(input.dtype), [None if a is None else dt.from_numpy(a.dtype) for a in (weight, bias)]
    )
    x, weight, bias = channels_and_weights(input, weight, bias, N, C, HxW)
    out, mean, rstd = silently(kernels.normalize_groups, x, weight, bias, group, eps)
    return tuple([a.astype(input.dtype, copy=False) for a in (out.reshape(input.shape), mean, rstd)])


@operator(
    "native_group_norm_backward",
    spaces=(),
    out=False,
    outputs=OUTPUTS,
    format_of=("input",),
    fake=lambda grad_output, input, weight, mean, rstd, N, C, HxW, group: (
        Fake(input._shape, input._dtype),
        Fake((C,), input._dtype),
        Fake((C,), input._dtype),
    ),
)
def native_group_norm_backward(grad_output, input, weight, mean, rstd, N, C, HxW, group):
    """The gradients of group norm's input, weight and bias."""
    x, weight, _ = channels_and_weights(input, weight, None, N, C, HxW)
    grad = np.ascontiguousarray(widened(grad_output)).reshape(x.shape)
    statistics = [widened(a).reshape(N, group) for a in (mean, rstd)]
    slope, *others = silently(kernels.groups_gradient, grad, x, weight, *statistics)
    return tuple([a.astype(input.dtype, copy=False) for a in (slope.reshape(input.shape), *others)])


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    """(input - mean) / sqrt(variance + eps) * weight + bias for each of `num_groups` groups of channels of
    each sample of (N, C, ...); weight and bias (C,) (Wu and He 2018)."""
    shape = input._shape
    check_group_norm(shape, *[None if t is None else t._shape for t in (weight, bias)], num_groups)
    input = input.contiguous(memory_format=suggested(shape, stride_of(input)))
    return group_norm_(input, weight, bias, *shape[:2], math.prod(shape[2:]), num_groups, eps)[0]


def functional_group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    if len(input._shape) < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {len(input._shape)}"
        )
    batch, channels, *space = input._shape
    size = [batch * channels // num_groups, num_groups, *space]     # the groups as samples, as PyTorch counts them
    if math.prod(size[:1] + space) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")
    return group_norm(input, num_groups, weight, bias, eps)


def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """group_norm, with the means and the reciprocal deviations."""
    return tuple(group_norm_(input, weight, bias, N, C, HxW, group, eps))


functional_group_norm.__name__ = functional_group_norm.__qualname__ = "group_norm"
functional_group_norm.__doc__ = group_norm.__doc__
publish("group_norm", group_norm, ("",))
publish("native_group_norm", native_group_norm, ("",))
publish("group_norm", functional_group_norm, ("nn.functional",))
