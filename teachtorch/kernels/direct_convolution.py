"""Convolutions of stride 1 without columns, compiled: every result is a weighted sum of shifted copies of the
input.

In a padded image laid out flat, element (y + i, x + j) is `i * width + j` after element (y, x). So a row of
results is the sum over taps (channel, i, j) of weight * image[offset(tap) + row], and several rows are one
long row, with the padding between them computed too and thrown away. Eight output channels are made at once,
from four taps at a time: what is loaded from the image serves all eight, and what is kept of the results
stays in the first cache.
"""

import functools
import itertools
import math

import numpy as np

from .cache import load_module
from .parallel import parallel_for

CHANNELS, TAPS = 8, 4  # of the forward kernel; fastest of those tried with AVX2 and AVX-512
GRAD_CHANNELS, DOTS = 4, 4  # of the weight gradient's
LANES = 768  # results of one channel that are computed together; powers of two share cache lines
GRAIN = 1 << 18  # multiplications that are worth a thread

HEADER = '''"""Convolutions of stride 1 as sums of shifted rows."""
import numpy as np
from numba import njit

FAST = {"contract", "reassoc", "nsz"}
'''

FORWARD = '''
@njit(cache=True, nogil=True, error_model="numpy")
def kernel(x, weight, bias, offsets, out, row, slab, rows, columns, begin, end):
    """x (batch, groups, elements); weight (groups, channels, taps), channels a multiple of CHANNELS;
    out (batch, groups, channels, depth, height, width)."""
    sums = np.empty(LANES * CHANNELS, x.dtype)
    blocks = weight.shape[1] // CHANNELS
    channels, depth, height, width = out.shape[2:]
    for unit in range(begin, end):
        first = unit % blocks * CHANNELS
        group = unit // blocks % x.shape[1]
        image = unit // blocks // x.shape[1]
        source, taps = x[image, group], weight[group, first:first + CHANNELS]
        for z in range(depth):
            for top in range(0, height, rows):
                for left in range(0, width, columns):
                    high, wide = min(rows, height - top), min(columns, width - left)
                    base, length = z * slab + top * row + left, (high - 1) * row + wide
                    for k in range(CHANNELS):
                        sums[k * LANES:k * LANES + length] = bias[group, first + k]
                    tap = 0
                    while tap + TAPS <= offsets.size:
                        several(sums, source, taps, tap, base, offsets, length)
                        tap += TAPS
                    while tap < offsets.size:
                        single(sums, source, taps, tap, base, offsets, length)
                        tap += 1
                    for k in range(min(CHANNELS, channels - first)):
                        for y in range(high):
                            start = k * LANES + y * row
                            line = out[image, group, first + k, z, top + y]
                            line[left:left + wide] = sums[start:start + wide]
'''

WEIGHT = '''
@njit(cache=True, nogil=True, error_model="numpy")
def kernel(x, grad, offsets, out, row, slab, rows, columns, begin, end):
    """out (groups, channels, taps), channels a multiple of CHANNELS; x and grad as in the forward kernel."""
    spread = np.zeros(LANES * CHANNELS, x.dtype)
    blocks = out.shape[1] // CHANNELS
    channels, depth, height, width = grad.shape[2:]
    for unit in range(begin, end):
        first, group = unit % blocks * CHANNELS, unit // blocks
        found = out[group, first:first + CHANNELS]
        for image in range(x.shape[0]):
            source = x[image, group]
            for z in range(depth):
                for top in range(0, height, rows):
                    for left in range(0, width, columns):
                        high, wide = min(rows, height - top), min(columns, width - left)
                        base, length = z * slab + top * row + left, (high - 1) * row + wide
                        spread[:] = 0
                        for k in range(min(CHANNELS, channels - first)):
                            for y in range(high):
                                start = k * LANES + y * row
                                line = grad[image, group, first + k, z, top + y]
                                spread[start:start + wide] = line[left:left + wide]
                        tap = 0
                        while tap + DOTS <= offsets.size:
                            several(spread, source, found, tap, base, offsets, length)
                            tap += DOTS
                        while tap < offsets.size:
                            single(spread, source, found, tap, base, offsets, length)
                            tap += 1
'''


def add_taps(name, taps):
    """The text of a function that adds `taps` taps to the channels' rows of sums."""
    lines = [
        '@njit(fastmath=FAST, error_model="numpy")',
        f"def {name}(sums, x, weight, tap, base, offsets, length):",
    ]
    lines += [f"    x{t} = x[base + offsets[tap + {t}]:]" for t in range(taps)]
    pairs = list(itertools.product(range(CHANNELS), range(taps)))
    lines += [f"    w{k}_{t} = weight[{k}, tap + {t}]" for k, t in pairs]
    lines += ["    for i in range(length):"]
    lines += [f"        v{t} = x{t}[i]" for t in range(taps)]
    for k in range(CHANNELS):
        terms = " + ".join(f"w{k}_{t} * v{t}" for t in range(taps))
        lines.append(f"        sums[i + {k * LANES}] += {terms}")
    return "\n".join(lines) + "\n"


def add_dots(name, taps):
    """The text of a function that adds the channels' gradients times `taps` taps to the weight's gradient."""
    lines = [
        '@njit(fastmath=FAST, error_model="numpy")',
        f"def {name}(grad, x, found, tap, base, offsets, length):",
    ]
    lines += [f"    x{t} = x[base + offsets[tap + {t}]:]" for t in range(taps)]
    pairs = list(itertools.product(range(GRAD_CHANNELS), range(taps)))
    lines += [f"    s{k}_{t} = x.dtype.type(0)" for k, t in pairs]
    lines += ["    for i in range(length):"]
    lines += [f"        v{t} = x{t}[i]" for t in range(taps)]
    for k in range(GRAD_CHANNELS):
        lines.append(f"        g = grad[i + {k * LANES}]")
        lines += [f"        s{k}_{t} += g * v{t}" for t in range(taps)]
    lines += [f"    found[{k}, tap + {t}] += s{k}_{t}" for k, t in pairs]
    return "\n".join(lines) + "\n"


def constants(channels, name, taps):
    return f"CHANNELS, {name}, LANES = {channels}, {taps}, {LANES}\n"


@functools.lru_cache(maxsize=None)
def _forward():
    parts = (
        HEADER,
        constants(CHANNELS, "TAPS", TAPS),
        add_taps("several", TAPS),
        add_taps("single", 1),
        FORWARD,
    )
    return load_module("direct_convolution", "\n\n".join(parts)).kernel


@functools.lru_cache(maxsize=None)
def _weight():
    parts = (
        HEADER,
        constants(GRAD_CHANNELS, "DOTS", DOTS),
        add_dots("several", DOTS),
        add_dots("single", 1),
        WEIGHT,
    )
    return load_module("direct_convolution_weight", "\n\n".join(parts)).kernel


# ---- calling them ---


def three(values, fill):
    return (fill,) * (3 - len(values)) + tuple(values)


def tap_offsets(channels, space, kernel, dilation):
    """Where each tap (channel, *kernel) lies in a flat padded image of `channels` planes."""
    (_, height, width), (a, b, c), (z, y, x) = three(space, 1), three(kernel, 1), three(dilation, 1)
    plane = np.add.outer(
        np.add.outer(np.arange(a) * z * height * width, np.arange(b) * y * width), np.arange(c) * x
    )
    return np.add.outer(np.arange(channels) * math.prod(space), plane).reshape(-1).astype(np.int64)


def segments(row, width, height):
    """(rows, columns) of the results computed together: as many rows as fit, or a part of one."""
    if row > LANES:
        return 1, min(width, LANES)
    return min(height, max(1, (LANES - width) // row + 1)), width


def in_blocks(weight):
    """(groups, channels, taps) with zeros up to a multiple of CHANNELS channels."""
    groups, channels, taps = weight.shape
    missing = -channels % CHANNELS
    if not missing:
        return np.ascontiguousarray(weight)
    return np.concatenate([weight, np.zeros((groups, missing, taps), weight.dtype)], 1)


def numbers(space, places):
    """The integers that the kernels take: elements from a row to the next, from a slab to the next; the
    segments."""
    _, height, width = three(space, 1)
    _, high, wide = three(places, 1)
    return (width, height * width, *segments(width, wide, high))


def convolve(x, weight, bias, dilation, groups):
    """Stride 1, no padding: x (batch, channels, *space) contiguous, weight (outputs, channels / groups,
    *kernel)."""
    batch, channels, *space = x.shape
    outputs, kernel = weight.shape[0], weight.shape[2:]
    places = [n - d * (k - 1) for n, k, d in zip(space, kernel, dilation)]
    offsets = tap_offsets(channels // groups, space, kernel, dilation)
    taps = in_blocks(weight.reshape(groups, outputs // groups, -1))
    shifts = np.zeros(taps.shape[:2], x.dtype)
    if bias is not None:
        shifts[:, : outputs // groups] = bias.reshape(groups, -1)
    out = np.empty((batch, groups, outputs // groups, *three(places, 1)), x.dtype)
    source, settings = x.reshape(batch, groups, -1), numbers(space, places)
    units = batch * groups * taps.shape[1] // CHANNELS
    parallel_for(
        units,
        grain(out.size * len(offsets), units),
        lambda begin, end: _forward()(source, taps, shifts, offsets, out, *settings, begin, end),
    )
    return out.reshape(batch, outputs, *places)


def weight_gradient(grad, x, weight_shape, dilation, groups):
    """The gradient of `convolve`'s weight; grad (batch, outputs, *places) contiguous."""
    batch, channels, *space = x.shape
    outputs, kernel, places = grad.shape[1], weight_shape[2:], grad.shape[2:]
    offsets = tap_offsets(channels // groups, space, kernel, dilation)
    blocks = -(-outputs // groups // GRAD_CHANNELS)
    found = np.zeros((groups, blocks * GRAD_CHANNELS, len(offsets)), x.dtype)
    source = x.reshape(batch, groups, -1)
    planes = grad.reshape(batch, groups, outputs // groups, *three(places, 1))
    settings, units = numbers(space, places), groups * blocks
    parallel_for(
        units,
        grain(grad.size * len(offsets), units),
        lambda begin, end: _weight()(source, planes, offsets, found, *settings, begin, end),
    )
    return found[:, : outputs // groups].reshape(weight_shape)


def grain(work, units):
    """How many units are worth a thread."""
    return max(1, GRAIN * units // max(work, 1))
