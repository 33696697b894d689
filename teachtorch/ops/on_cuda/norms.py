"""Layer, batch and group norm: statistics by a block, then one walk that normalises; their backwards."""

import numpy as np

from ...core import geometry
from ..elementwise import scalar_of
from .launching import are_floats, dense_kernel_for, viewed
from .rows import folded

# ---- layer norm --------------------------------------------------------------------------------------------


@dense_kernel_for("native_layer_norm")
def layer_norm(launch, outputs, args):
    from ...kernels.cuda import normalization

    (out, mean, rstd), (t, shape, weight, bias, eps) = outputs, args
    if not are_floats(t, weight, bias) or not t.numel():
        return False
    count = geometry.numel(shape)
    rows = t.numel() // count
    weight, bias = [
        filled_unless_given(launch, given, count, value, t._dtype)
        for given, value in ((weight, 1), (bias, 0))
    ]
    source, *held = [launch.flat(launch.contiguous(each)) for each in (t, mean, rstd, weight, bias)]
    launch.enqueue(lambda stream: normalization.row_statistics(*held[:2], source, rows, count, stream))
    launch.compute(reciprocal_deviation, rstd, [rstd, scalar_of(eps, t._dtype)], t._dtype)
    target = launch.flat(out)
    launch.enqueue(lambda stream: normalization.normalize_rows(target, source, *held, rows, count, stream))


@dense_kernel_for("native_layer_norm_backward")
def layer_norm_backward(launch, outputs, args):
    from ...kernels.cuda import normalization

    grad, t, shape, weight, mean, rstd = args
    if not are_floats(t, grad, weight) or not t.numel():
        return False
    count = geometry.numel(shape)
    weight = filled_unless_given(launch, weight, count, 1, t._dtype)
    arrays = [launch.flat(launch.contiguous(each)) for each in (*outputs, grad, t, mean, rstd, weight)]
    rows = t.numel() // count
    launch.enqueue(lambda stream: normalization.rows_gradient(*arrays, rows, count, stream))


def scaled_normal(x, mean, rstd, weight, bias):
    return (x - mean) * rstd * weight + bias


def reciprocal_deviation(variance, eps):
    return 1 / np.sqrt(variance + eps)


@dense_kernel_for("native_batch_norm")
def batch_norm(launch, outputs, args):
    """In training, as PyTorch does: the batch's statistics, which the running ones follow a little."""
    (out, mean, rstd), (t, weight, bias, running_mean, running_var, training, momentum, eps) = outputs, args
    given = [each for each in args[1:5] if each is not None]
    count = t.numel() // max(t._shape[1], 1)
    if not are_floats(t, mean, *given) or count < 2 and training or not t.numel():
        return False
    if training:
        batch_statistics(launch, t, mean, rstd)
        if running_mean is not None:
            follow(launch, running_mean, mean, momentum, 1)
            follow(launch, running_var, rstd, momentum, count / (count - 1))
    else:
        launch.copy(mean, running_mean)
        launch.copy(rstd, running_var)
    launch.compute(reciprocal_deviation, rstd, [rstd, scalar_of(eps, t._dtype)], t._dtype)
    parts = [by_channel(each, len(t._shape)) for each in (mean, rstd)]
    scale_and_shift(
        launch, out, t, *parts, [along(each, t, value) for each, value in ((weight, 1), (bias, 0))]
    )


def batch_statistics(launch, t, mean, variance):
    """Put the mean and the biased variance of each channel into two tensors."""
    from ...kernels.cuda import normalization

    sizes = t._shape[0], t._shape[1], geometry.numel(t._shape[2:])
    means, variances, source = [launch.flat(each) for each in (mean, variance, launch.contiguous(t))]
    launch.enqueue(lambda stream: normalization.channel_statistics(means, variances, source, *sizes, stream))


def by_channel(t, ndim):
    """(C,) as (C, 1, ...): broadcast along the channels of a tensor of `ndim` dimensions."""
    return viewed(t, (*t._shape, *[1] * (ndim - 2)), (*t._stride, *[0] * (ndim - 2)))


def along(given, t, value):
    """A weight by channel, or the number that stands for one that is not given."""
    return scalar_of(value, t._dtype) if given is None else by_channel(given, len(t._shape))


def scale_and_shift(launch, out, t, mean, rstd, weights):
    launch.compute(scaled_normal, out, [t, mean, rstd, *weights], t._dtype)


def slope_in_training(grad, x, mean, rstd, weight, total, along, share):
    """The input's gradient, where mean and variance are the batch's: less their own slopes."""
    centred = (x - mean) * rstd
    return (grad - share * (total + centred * along)) * rstd * weight


def slope_in_evaluation(grad, rstd, weight):
    return grad * rstd * weight


@dense_kernel_for("native_batch_norm_backward")
def batch_norm_backward(launch, outputs, args):
    (slope, weight_grad, bias_grad), (grad, t, weight, mean, rstd, training) = outputs, args
    if not are_floats(t, grad, weight, mean, rstd) or not t.numel():
        return False
    ndim, dims = len(t._shape), [0, *range(2, len(t._shape))]
    parts = [by_channel(each, ndim) for each in (mean, rstd)]
    parameter_slopes(launch, weight_grad, bias_grad, grad, t, *parts, dims)
    weight = along(weight, t, 1)
    if not training:
        launch.compute(slope_in_evaluation, slope, [grad, parts[1], weight], t._dtype)
        return
    share = scalar_of(t._shape[1] / t.numel(), t._dtype)
    totals = [by_channel(each, ndim) for each in (bias_grad, weight_grad)]
    launch.compute(slope_in_training, slope, [grad, t, *parts, weight, *totals, share], t._dtype)


def product_with_normal(grad, x, mean, rstd):
    return grad * (x - mean) * rstd


def parameter_slopes(launch, weight_grad, bias_grad, grad, t, mean, rstd, dims):
    """The gradients of weight and bias: sums over all dimensions but the channels'."""
    products = launch.empty(t._shape, t._dtype)
    launch.compute(product_with_normal, products, [grad, t, mean, rstd], t._dtype)
    folded(launch, "sum", weight_grad, products, dims)
    folded(launch, "sum", bias_grad, grad, dims)


# ---- group norm --------------------------------------------------------------------------------------------


def in_groups(t, N, C, HxW, group):
    """A contiguous tensor as (N, groups, channels of a group, places)."""
    shape = (N, group, C // group, HxW)
    return viewed(t, shape, geometry.contiguous_strides(shape))


def of_group(t):
    """(N, groups), broadcast along what a group holds."""
    return viewed(t, (*t._shape, 1, 1), (*t._stride, 0, 0))


def of_channel(given, group, value, dtype):
    """(C,) as (groups, channels of a group, 1)."""
    if given is None:
        return scalar_of(value, dtype)
    (size,), (step,) = given._shape, given._stride
    return viewed(given, (group, size // group, 1), (size // group * step, step, 0))


@dense_kernel_for("native_group_norm")
def group_norm(launch, outputs, args):
    from ...kernels.cuda import normalization

    (out, mean, rstd), (t, weight, bias, N, C, HxW, group, eps) = outputs, args
    if not are_floats(t, weight, bias, mean) or not t.numel():
        return False
    t = launch.contiguous(t)
    means, variances, source = [launch.flat(each) for each in (mean, rstd, t)]
    rows = N * group
    launch.enqueue(
        lambda stream: normalization.row_statistics(means, variances, source, rows, t.numel() // rows, stream)
    )
    launch.compute(reciprocal_deviation, rstd, [rstd, scalar_of(eps, t._dtype)], t._dtype)
    sizes = N, C, HxW, group
    weights = [of_channel(each, group, value, t._dtype) for each, value in ((weight, 1), (bias, 0))]
    statistics = [of_group(each) for each in (mean, rstd)]
    scale_and_shift(launch, in_groups(out, *sizes), in_groups(t, *sizes), *statistics, weights)


def slope_of_normal(scaled, x, mean, rstd, total, along, share):
    return (scaled - share * (total + (x - mean) * rstd * along)) * rstd


def multiplied(x, y):
    return x * y


@dense_kernel_for("native_group_norm_backward")
def group_norm_backward(launch, outputs, args):
    (slope, weight_grad, bias_grad), (grad, t, weight, mean, rstd, N, C, HxW, group) = outputs, args
    if not are_floats(t, grad, weight, mean) or not t.numel():
        return False
    sizes, dtype = (N, C, HxW, group), t._dtype
    grad, x = [in_groups(launch.contiguous(each), *sizes) for each in (grad, t)]
    mean, rstd = [of_group(each) for each in (mean, rstd)]
    grouped = [viewed(each, (group, C // group), (C // group, 1)) for each in (weight_grad, bias_grad)]
    parameter_slopes(launch, *grouped, grad, x, mean, rstd, [0, 3])
    scaled, products = [launch.empty(x._shape, dtype) for _ in range(2)]
    total, along = [launch.empty((N, group), dtype) for _ in range(2)]
    launch.compute(multiplied, scaled, [grad, of_channel(weight, group, 1, dtype)], dtype)
    launch.compute(product_with_normal, products, [scaled, x, mean, rstd], dtype)
    folded(launch, "sum", total, scaled, [2, 3])
    folded(launch, "sum", along, products, [2, 3])
    share = scalar_of(N * group / t.numel(), dtype)
    operands = [scaled, x, mean, rstd, of_group(total), of_group(along), share]
    launch.compute(slope_of_normal, in_groups(slope, *sizes), operands, dtype)


def scaled(x, factor):
    return x * factor


def towards(running, found, share):
    return running + share * (found - running)


def follow(launch, running, found, momentum, factor):
    """running += momentum * (factor * found - running)."""
    dtype, corrected = running._dtype, launch.empty(found._shape, running._dtype)
    launch.compute(scaled, corrected, [found, scalar_of(factor, dtype)], dtype)
    launch.compute(towards, running, [running, corrected, scalar_of(momentum, dtype)], dtype)


def filled_unless_given(launch, t, size, value, dtype):
    if t is not None:
        return t
    made = launch.empty((size,), dtype)
    launch.fill(made, value)
    return made
