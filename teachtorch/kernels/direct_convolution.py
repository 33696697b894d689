"""Convolutions without columns, compiled, for groups of few channels: every result is a weighted sum of
shifted copies of the input.

In an image laid out flat, element (y + i, x + j) is `i * width + j` after element (y, x). So a row of results
is the sum over taps (channel, i, j) of weight * image[offset(tap) + row], and several rows are one long row,
with the padding between them computed too and thrown away. What is kept of the results stays in the first
cache.

A stride s takes every s-th element: the image is first dealt out into its s * s phases (rows and columns of one
remainder), and within a phase the steps are of 1 again. A tap is then (channel, phase, i // s, j // s). The
gradient of the input is made phase by phase too, each from the taps that reach it.
"""

import functools
import itertools
import math

import numpy as np

from .cache import load_module
from .columns import Geometry, to_columns
from .parallel import parallel_for

TAPS = 3  # added at a time: divides 3x3, and few enough for LLVM to prove that nothing overlaps
LANES = 1024  # results that are computed together
GRAIN = 1 << 16  # multiplications that are worth a thread

HEADER = f'''"""Convolutions as sums of shifted rows."""
import numpy as np
from numba import njit

FAST = {{"contract", "reassoc", "nsz"}}
TAPS, LANES = {TAPS}, {LANES}
'''

FORWARD = '''
@njit(cache=True, nogil=True, error_model="numpy")
def kernel(x, weight, bias, offsets, out, row, slab, rows, columns, begin, end):
    """x (batch, groups, elements); weight (groups, channels, taps); out (batch, groups, channels, depth, height,
    width)."""
    sums = np.empty(LANES, x.dtype)
    groups, channels, depth, height, width = out.shape[1:]
    for unit in range(begin, end):
        channel, group, image = unit % channels, unit // channels % groups, unit // channels // groups
        source, taps = x[image, group], weight[group, channel]
        for z in range(depth):
            for top in range(0, height, rows):
                for left in range(0, width, columns):
                    high, wide = min(rows, height - top), min(columns, width - left)
                    base, length = z * slab + top * row + left, (high - 1) * row + wide
                    sums[:length] = bias[group, channel]
                    tap = 0
                    while tap + TAPS <= offsets.size:
                        several(sums, source, taps, tap, base, offsets, length)
                        tap += TAPS
                    while tap < offsets.size:
                        single(sums, source, taps, tap, base, offsets, length)
                        tap += 1
                    for y in range(high):
                        line = out[image, group, channel, z, top + y, left:]
                        found = sums[y * row:]
                        for i in range(wide):
                            line[i] = found[i]
'''

WEIGHT = '''
@njit(cache=True, nogil=True, error_model="numpy")
def kernel(x, grad, offsets, out, row, slab, rows, columns, begin, end):
    """out (groups, channels, taps); x and grad as in the forward kernel."""
    spread = np.zeros(LANES, x.dtype)
    channels, depth, height, width = grad.shape[2:]
    for unit in range(begin, end):
        channel, group = unit % channels, unit // channels
        found = out[group, channel]
        for image in range(x.shape[0]):
            source = x[image, group]
            for z in range(depth):
                for top in range(0, height, rows):
                    for left in range(0, width, columns):
                        high, wide = min(rows, height - top), min(columns, width - left)
                        base, length = z * slab + top * row + left, (high - 1) * row + wide
                        spread[:length] = 0
                        for y in range(high):
                            line = grad[image, group, channel, z, top + y, left:]
                            to = spread[y * row:]
                            for i in range(wide):
                                to[i] = line[i]
                        tap = 0
                        while tap + TAPS <= offsets.size:
                            several(spread, source, found, tap, base, offsets, length)
                            tap += TAPS
                        while tap < offsets.size:
                            single(spread, source, found, tap, base, offsets, length)
                            tap += 1
'''


def add_taps(name, taps):
    """The text of a function that adds `taps` taps to a row of sums."""
    lines = [
        '@njit(fastmath=FAST, error_model="numpy")',
        f"def {name}(sums, x, weight, tap, base, offsets, length):",
    ]
    lines += [f"    x{t} = x[base + offsets[tap + {t}]:]" for t in range(taps)]
    lines += [f"    w{t} = weight[tap + {t}]" for t in range(taps)]
    terms = " + ".join(f"w{t} * x{t}[i]" for t in range(taps))
    lines += ["    for i in range(length):", f"        sums[i] += {terms}"]
    return "\n".join(lines) + "\n"


def add_dots(name, taps):
    """The text of a function that adds the gradient times `taps` taps to the weight's gradient."""
    lines = [
        '@njit(fastmath=FAST, error_model="numpy")',
        f"def {name}(grad, x, found, tap, base, offsets, length):",
    ]
    lines += [f"    x{t} = x[base + offsets[tap + {t}]:]" for t in range(taps)]
    lines += [f"    s{t} = x.dtype.type(0)" for t in range(taps)]
    lines += ["    for i in range(length):"]
    lines += [f"        s{t} += grad[i] * x{t}[i]" for t in range(taps)]
    lines += [f"    found[tap + {t}] += s{t}" for t in range(taps)]
    return "\n".join(lines) + "\n"


@functools.lru_cache(maxsize=None)
def _forward():
    parts = (HEADER, add_taps("several", TAPS), add_taps("single", 1), FORWARD)
    return load_module("direct_convolution", "\n\n".join(parts)).kernel


@functools.lru_cache(maxsize=None)
def _weight():
    parts = (HEADER, add_dots("several", TAPS), add_dots("single", 1), WEIGHT)
    return load_module("direct_convolution_weight", "\n\n".join(parts)).kernel


# ---- images and phases ---


def three(values, fill):
    return (fill,) * (3 - len(values)) + tuple(values)


def phases(x, geometry):
    """x with zeros around it, dealt out: (batch, channels, *stride, *space of a phase), contiguous."""
    stride, padding = geometry.stride, geometry.padding
    sizes = phase_sizes(x.shape[2:], geometry)
    padded = np.zeros((*x.shape[:2], *[n * s for n, s in zip(sizes, stride)]), x.dtype)
    padded[(..., *[slice(p, p + n) for n, p in zip(x.shape[2:], padding)])] = x
    if max(stride) == 1:
        return padded.reshape(*x.shape[:2], *stride, *sizes)
    apart = (1,) * len(stride)
    return to_columns(padded, Geometry(stride, stride, (0,) * len(stride), apart))


def phase_sizes(space, geometry):
    """The space of a phase, the zeros around the image included."""
    return tuple([-(-(n + 2 * p) // s) for n, p, s in zip(space, geometry.padding, geometry.stride)])


def every(phase, stride):
    """The elements of a phase: a slice per dimension."""
    return [slice(first, None, step) for first, step in zip(phase, stride)]


def tap_offsets(shape, geometry):
    """Where each tap (channel, *kernel) lies in flat phases of shape (channels, *stride, *space)."""
    steps = np.cumprod((1, *shape[:0:-1]))[::-1]  # elements from one index to the next, per dimension
    ndim = len(geometry.stride)
    found = np.arange(shape[0]) * steps[0]
    for d, (k, s, apart) in enumerate(zip(geometry.kernel, geometry.stride, geometry.dilation)):
        reach = np.arange(k) * apart
        found = np.add.outer(found, reach % s * steps[1 + d] + reach // s * steps[1 + ndim + d])
    return found.reshape(-1).astype(np.int64)


def segments(row, width, height):
    """(rows, columns) of the results computed together: as many rows as fit, or a part of one."""
    if row > LANES:
        return 1, min(width, LANES)
    return min(height, max(1, (LANES - width) // row + 1)), width


def numbers(space, places):
    """The integers that the kernels take: elements from a row to the next, from a slab to the next; the
    segments."""
    _, height, width = three(space, 1)
    _, high, wide = three(places, 1)
    return (width, height * width, *segments(width, wide, high))


def grain(work, units):
    """How many units are worth a thread."""
    return max(1, GRAIN * units // max(work, 1))


# ---- the three convolutions ---


def correlate(x, weight, bias, offsets, space, out):
    """Fill out (batch, groups, channels, *three places) from flat images x (batch, groups, elements)."""
    units, settings = math.prod(out.shape[:3]), numbers(space, out.shape[3:])
    parallel_for(
        units,
        grain(out.size * len(offsets), units),
        lambda begin, end: _forward()(x, weight, bias, offsets, out, *settings, begin, end),
    )


def convolve(x, weight, bias, geometry, groups):
    """(batch, outputs, *places) of x (batch, channels, *space) and weight (outputs, channels / groups,
    *kernel)."""
    batch, outputs, places = x.shape[0], weight.shape[0], geometry.places(x.shape[2:])
    dealt = phases(x, geometry)
    offsets = tap_offsets((x.shape[1] // groups, *dealt.shape[2:]), geometry)
    shifts = np.zeros(outputs, x.dtype) if bias is None else np.ascontiguousarray(bias)
    out = np.empty((batch, groups, outputs // groups, *three(places, 1)), x.dtype)
    taps = np.ascontiguousarray(weight).reshape(groups, outputs // groups, -1)
    space = dealt.shape[2 + len(places) :]
    correlate(dealt.reshape(batch, groups, -1), taps, shifts.reshape(groups, -1), offsets, space, out)
    return out.reshape(batch, outputs, *places)


def weight_gradient(grad, x, weight_shape, geometry, groups):
    """The gradient of `convolve`'s weight; grad (batch, outputs, *places)."""
    batch, outputs, *places = grad.shape
    dealt = phases(x, geometry)
    offsets = tap_offsets((x.shape[1] // groups, *dealt.shape[2:]), geometry)
    found = np.zeros((groups, outputs // groups, len(offsets)), x.dtype)
    planes = np.ascontiguousarray(grad).reshape(batch, groups, outputs // groups, *three(places, 1))
    source, settings = dealt.reshape(batch, groups, -1), numbers(dealt.shape[2 + len(places) :], places)
    parallel_for(
        outputs,
        grain(grad.size * len(offsets), outputs),
        lambda begin, end: _weight()(source, planes, offsets, found, *settings, begin, end),
    )
    return found.reshape(weight_shape)


def convolve_transposed(grad, weight, space, geometry, groups):
    """The gradient of `convolve`'s x, (batch, channels, *space)."""
    stride, padding = geometry.stride, geometry.padding
    sizes = phase_sizes(space, geometry)
    reach = [(k - 1) * d // s for k, d, s in zip(geometry.kernel, geometry.dilation, stride)]
    source = with_margins(grad, reach, sizes)
    channels = weight.shape[1] * groups
    found = np.empty((grad.shape[0], channels, *[n * s for n, s in zip(sizes, stride)]), grad.dtype)
    for phase in itertools.product(*map(range, stride)):
        part = transposed_phase(source, weight, phase, reach, sizes, geometry, groups)
        found[(..., *every(phase, stride))] = part.reshape(*found.shape[:2], *sizes)
    return np.ascontiguousarray(found[(..., *[slice(p, p + n) for n, p in zip(space, padding)])])


def with_margins(grad, reach, sizes):
    """grad with `reach` zeros in front and enough behind for `sizes` results per dimension."""
    source = np.zeros((*grad.shape[:2], *[n + r for n, r in zip(sizes, reach)]), grad.dtype)
    source[(..., *[slice(r, r + n) for n, r in zip(grad.shape[2:], reach)])] = grad
    return source


def transposed_phase(source, weight, phase, reach, sizes, geometry, groups):
    """One phase of the input's gradient, from the elements of the kernel that fall into it."""
    batch, outputs, *space = source.shape
    taken = [[i for i in range(k) if i * d % s == first]
             for k, d, s, first in zip(geometry.kernel, geometry.dilation, geometry.stride, phase)]
    offsets = np.arange(outputs // groups) * math.prod(space)
    for axis, (indices, d, s) in enumerate(zip(taken, geometry.dilation, geometry.stride)):
        back = np.array([reach[axis] - i * d // s for i in indices], int)
        offsets = np.add.outer(offsets, back * math.prod(space[axis + 1 :]))
    parts = weight.reshape(groups, outputs // groups, *weight.shape[1:]).swapaxes(1, 2)
    taps = parts[(..., *np.ix_(*taken))].reshape(groups, weight.shape[1], offsets.size)
    out = np.empty((batch, groups, weight.shape[1], *three(sizes, 1)), source.dtype)
    shifts = np.zeros(taps.shape[:2], source.dtype)
    flat = offsets.reshape(-1).astype(np.int64)
    correlate(source.reshape(batch, groups, -1), np.ascontiguousarray(taps), shifts, flat, space, out)
    return out
