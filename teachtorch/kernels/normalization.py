"""Normalisation to mean 0 and variance 1: of rows (layer norm), of channels (batch norm), of groups of channels.

Rows are (groups * samples, length) with weights (groups, length): row r has the weights of group r % groups.
Channels are the second dimension of (batch, channels, places). NumPy serves small arrays, compiled loops
large ones. Groups of channels are rows where channels are short; else the loops over channels serve, for which all
channels of all samples are those of one.
"""

import functools

import numpy as np

from .cache import load_module
from .parallel import parallel_for
from .pointwise import SMALL

GRAIN = 1 << 17  # elements that are worth a thread
FEW_PLACES = 8  # channels whose elements lie apart are summed faster by NumPy

HEADER = '''"""Normalisation of rows and of channels."""
import math

from numba import njit

FAST = {"contract", "reassoc", "nsz"}
'''
HELPERS = """
@njit(fastmath=FAST, error_model="numpy")
def total(row):
    found = row.dtype.type(0)
    for i in range(row.size):
        found += row[i]
    return found


@njit(fastmath=FAST, error_model="numpy")
def spread(row, mean):
    found = row.dtype.type(0)
    for i in range(row.size):
        found += (row[i] - mean) * (row[i] - mean)
    return found


@njit(fastmath=FAST, error_model="numpy")
def product(row, other, mean):
    found = row.dtype.type(0)
    for i in range(row.size):
        found += row[i] * (other[i] - mean)
    return found


@njit(fastmath=FAST, error_model="numpy")
def row_sums(g, x, w, mean, scale):
    first, second = g.dtype.type(0), g.dtype.type(0)
    for i in range(g.size):
        part = g[i] * w[i]
        first += part
        second += part * ((x[i] - mean) * scale)
    return first, second
"""
LOOPS = {
    "rows_forward": """

@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def kernel(x, out, weight, bias, mean, rstd, eps, begin, end):
    for r in range(begin, end):
        row, result, w, b = x[r], out[r], weight[r % weight.shape[0]], bias[r % weight.shape[0]]
        middle = total(row) / x.dtype.type(row.size)
        scale = x.dtype.type(1) / math.sqrt(spread(row, middle) / x.dtype.type(row.size) + eps)
        mean[r], rstd[r] = middle, scale
        for i in range(row.size):
            result[i] = (row[i] - middle) * scale * w[i] + b[i]
""",
    "rows_backward": """

@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def kernel(grad, x, weight, mean, rstd, out, weight_grad, bias_grad, begin, end):
    groups = weight.shape[0]
    for r in range(begin, end):
        g, row, result, w = grad[r], x[r], out[r], weight[r % groups]
        wg, bg = weight_grad[r % groups], bias_grad[r % groups]
        middle, scale, length = mean[r], rstd[r], x.dtype.type(x.shape[1])
        first, second = row_sums(g, row, w, middle, scale)
        first, second = first / length, second / length
        for i in range(row.size):
            normal = (row[i] - middle) * scale
            result[i] = (g[i] * w[i] - first - normal * second) * scale
            wg[i] += g[i] * normal
            bg[i] += g[i]
""",
    "channel_statistics": """

@njit(cache=True, nogil=True, error_model="numpy")
def kernel(x, mean, variance, begin, end):
    count = x.shape[0] * x.shape[2]
    for c in range(begin, end):
        found = 0.0
        for n in range(x.shape[0]):
            found += total(x[n, c])
        middle = x.dtype.type(found / count)
        found = 0.0
        for n in range(x.shape[0]):
            found += spread(x[n, c], middle)
        mean[c], variance[c] = middle, found / count
""",
    "channels_scaled": """

@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def kernel(x, out, scale, shift, begin, end):
    for plane in range(begin, end):
        c = plane % x.shape[1]
        row, result = x[plane // x.shape[1], c], out[plane // x.shape[1], c]
        a, b = scale[c], shift[c]
        for i in range(row.size):
            result[i] = row[i] * a + b
""",
    "channel_sums": """

@njit(cache=True, nogil=True, error_model="numpy")
def kernel(grad, x, mean, sums, products, begin, end):
    for c in range(begin, end):
        first, second = 0.0, 0.0
        for n in range(x.shape[0]):
            first += total(grad[n, c])
            second += product(grad[n, c], x[n, c], mean[c])
        sums[c], products[c] = first, second
""",
    "channels_backward": """

@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def kernel(grad, x, out, mean, scale, slope, shift, begin, end):
    for plane in range(begin, end):
        c = plane % x.shape[1]
        n = plane // x.shape[1]
        g, row, result = grad[n, c], x[n, c], out[n, c]
        a, b, d, middle = scale[c], slope[c], shift[c], mean[c]
        for i in range(row.size):
            result[i] = g[i] * a - (row[i] - middle) * b - d
""",
}


@functools.lru_cache(maxsize=None)
def loop(name):
    """The compiled loop of that name."""
    return load_module(f"{name}", HEADER + HELPERS + LOOPS[name]).kernel


# ---- rows ---


def normalize_rows(x, weight, bias, eps):
    """((x - mean) * rstd * weight + bias, mean, rstd) of rows (n, length); weight and bias (groups, length) or None."""
    if x.size <= SMALL:
        return small_rows(x, weight, bias, eps)
    mean, rstd = np.empty(len(x), x.dtype), np.empty(len(x), x.dtype)
    out, eps = np.empty_like(x), x.dtype.type(eps)
    weight = np.ones((1, x.shape[1]), x.dtype) if weight is None else weight
    bias = np.zeros_like(weight) if bias is None else bias
    parallel_for(
        len(x),
        max(1, GRAIN // x.shape[1]),
        lambda begin, end: loop("rows_forward")(x, out, weight, bias, mean, rstd, eps, begin, end),
    )
    return out, mean, rstd


def small_rows(x, weight, bias, eps):
    count = max(x.shape[1], 1)
    mean = np.add.reduce(x, 1, None, None, True)
    mean /= count
    out = x - mean
    rstd = np.add.reduce(out * out, 1, None, None, True)  # written over: in a small array each line tells
    rstd /= count
    rstd += eps
    np.sqrt(rstd, rstd)
    np.reciprocal(rstd, rstd)
    out *= rstd
    if weight is not None:
        rows = by_group(out, weight)
        np.multiply(rows, weight, rows)
    if bias is not None:
        rows = by_group(out, bias)
        np.add(rows, bias, rows)
    return out, mean[:, 0], rstd[:, 0]


def by_group(rows, weight):
    """The rows as (samples, groups, length), a view; as they are where there is one group."""
    return rows if len(weight) == 1 else rows.reshape(len(rows) // len(weight), *weight.shape)


def sum_by_group(rows, weight):
    """(groups, length)."""
    return np.add.reduce(by_group(rows, weight), 0, None, None, len(weight) == 1)


def rows_gradient(grad, x, weight, mean, rstd):
    """The gradients of normalize_rows' x, weight and bias; those of weight and bias (groups, length)."""
    weight = np.ones((1, x.shape[1]), x.dtype) if weight is None else weight
    if x.size <= SMALL:
        return small_rows_gradient(grad, x, weight, mean[:, None], rstd[:, None])
    out, parts = np.empty_like(x), {}

    def body(begin, end):
        sums = parts[begin] = np.zeros((2, *weight.shape), x.dtype)
        loop("rows_backward")(grad, x, weight, mean, rstd, out, sums[0], sums[1], begin, end)

    parallel_for(len(x), max(1, GRAIN // x.shape[1]), body)
    first, *others = [parts[begin] for begin in sorted(parts)]  # in their order, since sums of floats depend on it
    weight_grad, bias_grad = sum(others, first)
    return out, weight_grad, bias_grad


def small_rows_gradient(grad, x, weight, mean, rstd):
    normal = (x - mean) * rstd
    weighted = (by_group(grad, weight) * weight).reshape(x.shape)
    count = x.dtype.type(max(x.shape[1], 1))
    first = np.add.reduce(weighted, 1, None, None, True) / count
    second = np.add.reduce(weighted * normal, 1, None, None, True) / count
    weight_grad = sum_by_group(grad * normal, weight)
    return (weighted - first - normal * second) * rstd, weight_grad, sum_by_group(grad, weight)


# ---- channels ---


def is_small(x):
    return x.size <= SMALL or x.shape[2] < FEW_PLACES


def channel_total(x):
    """The sum of each channel by NumPy, which adds whole rows where every channel has one place."""
    return x[:, :, 0].sum(0) if x.shape[2] == 1 else x.sum((0, 2))


def each_channel(x, run, *arrays):
    """Run a loop over all channels."""
    grain = max(1, GRAIN // (x.shape[0] * x.shape[2]))
    parallel_for(x.shape[1], grain, lambda begin, end: run(*arrays, begin, end))


def each_plane(x, run, *arrays):
    """Run a loop over all channels of all samples."""
    parallel_for(
        x.shape[0] * x.shape[1], max(1, GRAIN // x.shape[2]), lambda begin, end: run(*arrays, begin, end)
    )


def flat(x):
    """Rows of channels where every channel has one place: NumPy's loops are then as long as a row, not 1."""
    return x[:, :, 0] if x.shape[2] == 1 else x


def spread_out(values, x):
    """One value per channel, in the shape that goes with flat(x)."""
    return values if x.shape[2] == 1 else values[:, None]


def channel_statistics(x):
    """(mean, biased variance) of each channel of (batch, channels, places), contiguous."""
    if is_small(x):
        count = x.dtype.type(max(x.shape[0] * x.shape[2], 1))
        mean = channel_total(x) / count
        rest = flat(x) - spread_out(mean, x)
        rest *= rest
        return mean, channel_total(rest.reshape(x.shape)) / count
    mean, variance = np.empty(x.shape[1], x.dtype), np.empty(x.shape[1], x.dtype)
    each_channel(x, loop("channel_statistics"), x, mean, variance)
    return mean, variance


def scale_channels(x, mean, rstd, weight, bias):
    """(x - mean) * rstd * weight + bias by channel."""
    scale = rstd if weight is None else rstd * weight
    if is_small(x):
        out = flat(x) - spread_out(mean, x)
        out *= spread_out(scale, x)
        if bias is not None:
            out += spread_out(bias, x)
        return out.reshape(x.shape)
    shift = -mean * scale if bias is None else bias - mean * scale
    out = np.empty_like(x)
    each_plane(x, loop("channels_scaled"), x, out, scale, shift)
    return out


def channels_gradient(grad, x, mean, rstd, weight, is_training):
    """The gradients of scale_channels' x, weight and bias; in training mean and rstd are functions of x."""
    sums, products = gradient_sums(grad, x, mean)
    scale = rstd if weight is None else rstd * weight
    count = x.dtype.type(max(x.shape[0] * x.shape[2], 1))
    slope = scale * products * rstd * rstd / count if is_training else np.zeros_like(scale)
    shift = scale * sums / count if is_training else slope
    if is_small(x):
        out = flat(grad) * spread_out(scale, x)
        if is_training:
            rest = flat(x) - spread_out(mean, x)
            rest *= spread_out(slope, x)
            rest += spread_out(shift, x)
            out -= rest
        out = out.reshape(x.shape)
    else:
        out = np.empty_like(x)
        each_plane(x, loop("channels_backward"), grad, x, out, mean, scale, slope, shift)
    return out, products * rstd, sums


def gradient_sums(grad, x, mean):
    """(sum of grad, sum of grad * (x - mean)) by channel."""
    if is_small(x):
        rest = flat(x) - spread_out(mean, x)
        rest *= flat(grad)
        return channel_total(grad), channel_total(rest.reshape(x.shape))
    sums, products = np.empty(x.shape[1], x.dtype), np.empty(x.shape[1], x.dtype)
    each_channel(x, loop("channel_sums"), grad, x, mean, sums, products)
    return sums, products


# ---- groups of channels ---


def normalize_groups(x, weight, bias, groups, eps):
    """(out, mean, rstd) of x (batch, channels, places), normalised by group and scaled by channel: weight and bias
    (channels,) or None, mean and rstd (batch, groups)."""
    batch, channels, places = x.shape
    if is_small(x):
        rows = x.reshape(batch * groups, channels // groups * places)
        found = normalize_rows(rows, *[as_rows(a, groups, places) for a in (weight, bias)], eps)
        return found[0].reshape(x.shape), found[1].reshape(batch, groups), found[2].reshape(batch, groups)
    mean, variance = channel_statistics(x.reshape(1, batch * groups, channels // groups * places))
    mean, rstd = mean.reshape(batch, groups), 1 / np.sqrt(variance + x.dtype.type(eps)).reshape(batch, groups)
    middle, scale = [np.repeat(a, channels // groups, 1) for a in (mean, rstd)]
    if weight is not None:
        scale *= weight
    shift = -middle * scale if bias is None else bias - middle * scale
    planes = x.reshape(1, batch * channels, places)
    out = np.empty_like(planes)
    each_plane(planes, loop("channels_scaled"), planes, out, scale.reshape(-1), shift.reshape(-1))
    return out.reshape(x.shape), mean, rstd


def groups_gradient(grad, x, weight, mean, rstd):
    """The gradients of normalize_groups' x, weight and bias."""
    (batch, channels, places), groups = x.shape, mean.shape[1]
    weight = np.ones(channels, x.dtype) if weight is None else weight
    if is_small(x):
        row_shape = batch * groups, channels // groups * places
        rows = [a.reshape(row_shape) for a in (grad, x)]
        found = rows_gradient(*rows, as_rows(weight, groups, places), mean.reshape(-1), rstd.reshape(-1))
        return found[0].reshape(x.shape), *[a.reshape(channels, places).sum(1) for a in found[1:]]
    middle, deviation = [np.repeat(a, channels // groups, 1) for a in (mean, rstd)]
    planes = [a.reshape(1, batch * channels, places) for a in (grad, x)]
    sums, products = [a.reshape(batch, channels) for a in gradient_sums(*planes, middle.reshape(-1))]
    products *= deviation
    count = x.dtype.type(channels // groups * places)
    first, second = [group_totals(a * weight, groups) / count for a in (sums, products)]
    first, second = [np.repeat(a, channels // groups, 1) for a in (first, second)]
    settings = [a.reshape(-1) for a in (middle, deviation * weight, deviation**2 * second, deviation * first)]
    out = np.empty_like(planes[1])
    each_plane(out, loop("channels_backward"), *planes, out, *settings)
    return out.reshape(x.shape), products.sum(0), sums.sum(0)


def as_rows(values, groups, places):
    """One value per channel, repeated for its places, (groups, length)."""
    return None if values is None else np.repeat(values, places).reshape(groups, len(values) // groups * places)


def group_totals(values, groups):
    """The sums over the channels of each group, (batch, groups)."""
    return values.reshape(len(values), groups, values.shape[1] // groups).sum(2)
