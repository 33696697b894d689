"""Convolutions without columns, compiled: every result is a weighted sum of shifted copies of the input.

In an image laid out flat, element (y + i, x + j) is `i * width + j` after element (y, x). So a row of results
is the sum over taps (channel, i, j) of weight * image[offset(tap) + row], and several rows are one long row,
with the padding between them computed too and thrown away. Several channels of results are computed at once,
a tile at a time (tiles.py). Strides are dealt with by phases (phases.py); the gradient of the input is made
phase by phase, each from the taps that reach it.

The gradient of the weight is the same sum with other parts: over all places, of the result's gradient there
times the image at that place and tap. There the channels lie innermost, so that a vector holds several.
"""

import functools
import itertools
import math

import numpy as np

from . import tiles
from .cache import load_module
from .columns import lifted
from .copies import row_copies, row_turns
from .parallel import get_num_threads, parallel_for
from .phases import CHANNELS_FIRST, phase_sizes, phases_last, row_numbers, tap_offsets

LONGEST = 1024  # results of a channel that are computed together
PLACES = 512  # of which the gradients of the weight are summed at a time
FEW = 1 << 17  # elements of a weight that are soon added
GRAIN = 1 << 20  # multiplications that are worth a thread

# The types are given, so that some arrays may have any strides ("A"): results that are every second element of an
# array, gradients that are one number expanded.
TYPES = '''
T = types.{dtype}
THREE, FOUR, INDICES = types.UniTuple(types.int64, 3), types.UniTuple(types.int64, 4), types.int64[::1]
'''

FORWARD = '''
@njit(
    types.void(
        types.Array(T, 4, "C", readonly=True), T[:, ::1], types.Array(T, 2, "C", readonly=True), INDICES,
        types.Array(T, 6, "A"), INDICES, types.int64, THREE, THREE, THREE, FOUR, types.int64, types.int64,
    ),
    cache=True, nogil=True, error_model="numpy",
)
def kernel(x, weight, bias, offsets, out, tops, channels, stride, front, sizes, settings, begin, end):
    """x (planes, depth, height, width), `channels` planes of each group, to be dealt out with `sizes`; weight
    (groups, taps of all blocks); out (batch, groups, channels, depth, height, width); block b has its channels
    tops[b] to tops[b + 1]."""
    row, slab, rows, columns = settings
    groups, _, depth, height, width = out.shape[1:]
    blocks, space = tops.size - 1, x.shape[1:]
    apart = LONGEST + max(WIDE, SINGLE)
    sums = np.zeros(ROWS * apart, x.dtype)
    elements = channels * stride[0] * stride[1] * stride[2] * sizes[0] * sizes[1] * sizes[2]
    source, present = np.zeros(elements + max(WIDE, SINGLE), x.dtype), -1
    to_image, to_group, to_channel, to_z, to_y, to_x = [step // out.itemsize for step in out.strides]
    for unit in range(begin, end):
        block, image, group = unit % blocks, unit // (blocks * groups), unit // blocks % groups
        if unit // blocks != present:
            present = unit // blocks
            deal(x, space, present * channels, source, 0, channels, sizes, stride, front)
        taps, top_channel, used = weight[group], tops[block], tops[block + 1] - tops[block]
        first = top_channel * offsets.size
        for z in range(depth):
            for top in range(0, height, rows):
                for left in range(0, width, columns):
                    high, wide = min(rows, height - top), min(columns, width - left)
                    base, length = z * slab + top * row + left, (high - 1) * row + wide
                    for r in range(used):
                        sums[r * apart : r * apart + length] = bias[group, top_channel + r]
                    at = 0
                    if used == 1:
                        while at < length:
                            if length - at > LANES:
                                one_wide(source, base + at, offsets, offsets.size, taps, first, sums, at, apart)
                                at += SINGLE
                            else:
                                one_narrow(source, base + at, offsets, offsets.size, taps, first, sums, at, apart)
                                at += LANES
                    else:
                        while at < length:
                            if length - at > LANES:
                                many_wide(source, base + at, offsets, offsets.size, taps, first, sums, at, apart)
                                at += WIDE
                            else:
                                many_narrow(source, base + at, offsets, offsets.size, taps, first, sums, at, apart)
                                at += LANES
                    corner = image * to_image + group * to_group + z * to_z + top * to_y + left * to_x
                    for r in range(used):
                        for y in range(high):
                            place = corner + (top_channel + r) * to_channel + y * to_y
                            if to_x == 1:
                                copy(sums, r * apart + y * row, out, place, wide)
                            else:
                                spread(sums, r * apart + y * row, 1, out, place, to_x, wide)
'''

WEIGHT = '''
PLACES = {places}


@njit(
    types.void(
        T[::1], types.int64, types.Array(T, 4, "A", readonly=True), INDICES, INDICES, types.int64, T[:, :, :, ::1],
        types.int64, types.int64,
    ),
    cache=True, nogil=True, error_model="numpy",
)
def kernel(x, elements, grad, places, runs, length, out, begin, end):
    """Add to out (groups, blocks * ROWS, runs, more than length) for places begin to end of all images.

    x: flat images, `elements` of each group; grad (batch, groups, channels, places); places, runs: where each
    place and each run of `length` elements lies in a group."""
    groups, channels, count = grad.shape[1:]
    blocks, apart = out.shape[1] // ROWS, out.shape[2] * out.shape[3]
    flat = out.reshape(-1)
    offsets = np.empty(PLACES, np.int64)
    packed = np.zeros(PLACES * ROWS, x.dtype)
    for first in range(begin, end, PLACES):
        used = min(PLACES, end - first)
        for i in range(used):
            offsets[i] = (first + i) // count * groups * elements + places[(first + i) % count]
        for group in range(groups):
            for block in range(blocks):
                pack(grad, group, block * ROWS, first, used, packed)
                start = (group * blocks + block) * ROWS * apart
                for run in range(runs.size):
                    base, at = group * elements + runs[run], 0
                    while at < length:
                        to = start + run * out.shape[3] + at
                        if length - at > LANES:
                            many_wide(x, base + at, offsets, used, packed, 0, flat, to, apart)
                            at += WIDE
                        else:
                            many_narrow(x, base + at, offsets, used, packed, 0, flat, to, apart)
                            at += LANES
'''

PACK = '''
@njit(nogil=True, error_model="numpy")
def pack(grad, group, channel, first, used, packed):
    """The gradients of ROWS channels at places first to first + used, place by place; zero past the last."""
    to_image, to_group, to_channel, to_place = [step // grad.itemsize for step in grad.strides]
    channels, count = grad.shape[2:]
    left = min(ROWS, channels - channel)
    if left < ROWS:
        packed[: used * ROWS] = 0
    done = 0
    while done < used:
        image, place = (first + done) // count, (first + done) % count
        length = min(used - done, count - place)
        at = image * to_image + group * to_group + channel * to_channel + place * to_place
        if left == ROWS and to_place == 1:
            turn(grad, at, to_channel, packed, done * ROWS, ROWS, length)
        else:
            for r in range(left):
                spread(grad, at + r * to_channel, to_place, packed, done * ROWS + r, ROWS, length)
        done += length


'''


@functools.lru_cache(maxsize=None)
def _forward(itemsize):
    rows, vectors, lanes = tiles.shape(itemsize)
    shapes = {"many_wide": (rows, vectors), "many_narrow": (rows, 1)}
    shapes |= {"one_wide": (1, tiles.SINGLE_VECTORS), "one_narrow": (1, 1)}
    loops = "".join([tiles.tile(name, *sizes, lanes) for name, sizes in shapes.items()])
    text = tiles.header(rows, vectors, lanes) + loops
    text += f"{row_copies(lanes)}{CHANNELS_FIRST}LONGEST = {LONGEST}\n{types_of(itemsize)}\n{FORWARD}"
    return load_module("direct_convolution", text).kernel


@functools.lru_cache(maxsize=None)
def _weight(itemsize):
    rows, vectors, lanes = tiles.shape(itemsize)
    text = tiles.header(rows, vectors, lanes) + tiles.tile("many_wide", rows, vectors, lanes)
    text += tiles.tile("many_narrow", rows, 1, lanes) + row_copies(lanes) + row_turns(lanes, rows) + PACK
    text += types_of(itemsize) + WEIGHT.format(places=PLACES)
    return load_module("direct_convolution_weight", text).kernel


def types_of(itemsize):
    return TYPES.format(dtype=f"float{8 * itemsize}")


# ---- sizes ---


def slack(dtype):
    """Elements that vectors may reach over the end of an array."""
    _, vectors, lanes = tiles.shape(dtype.itemsize)
    return max(vectors, tiles.SINGLE_VECTORS) * lanes


def packed_taps(taps):
    """(weights, tops): taps (groups, channels, count) in blocks of as many channels as a tile has rows, side by
    side tap by tap, and the first channel of each block. Of the channels that are left each is a block of its
    own, or, if they are more than a third of the rows, all are one, with zeros for the rest."""
    rows, _, _ = tiles.shape(taps.dtype.itemsize)
    groups, channels, count = taps.shape
    left = channels % rows
    shared = channels if left > rows // 3 else channels - left
    padded = np.zeros((groups, -(-shared // rows), rows, count), taps.dtype)
    padded.reshape(groups, padded.shape[1] * rows, count)[:, :shared] = taps[:, :shared]
    packed = padded.swapaxes(2, 3).reshape(groups, padded[0].size)
    tops = [*range(0, shared, rows), *range(shared, channels + 1)]
    others = taps[:, shared:].reshape(groups, (channels - shared) * count)
    return np.concatenate((packed, others), 1), np.array(tops)


# ---- the three convolutions ---


def correlate(x, taps, bias, offsets, stride, front, sizes, out):
    """Fill out (batch, groups, channels, *three places) from images x, dealt out in phases of `sizes`, with `front`
    elements of padding in front; taps (groups, channels, taps), which lie at `offsets` in a group."""
    weight, tops = packed_taps(taps)
    groups, per_image = out.shape[1], out.shape[1] * (len(tops) - 1)
    planes, kernel = x.reshape(x.shape[0], x.shape[1], *lifted(x.shape[2:], 1)), _forward(x.dtype.itemsize)
    layout = x.shape[1] // groups, lifted(stride, 1), lifted(front, 0), lifted(sizes, 1)
    settings = row_numbers(sizes, out.shape[3:], LONGEST)

    def body(begin, end):
        first, last = begin // per_image, -(-end // per_image)
        part = np.ascontiguousarray(planes[first:last])  # gradients are often one number, expanded
        part, units = part.reshape(-1, *part.shape[2:]), (begin - first * per_image, end - first * per_image)
        kernel(part, weight, bias, offsets, out[first:last], tops, *layout, settings, *units)

    units = len(out) * per_image
    parallel_for(units, max(1, GRAIN * units // max(out.size * len(offsets), 1)), body)


def convolve(x, weight, bias, geometry, groups):
    """(batch, outputs, *places) of x (batch, channels, *space) and weight (outputs, channels / groups, *kernel)."""
    batch, outputs, places = x.shape[0], weight.shape[0], geometry.places(x.shape[2:])
    sizes = phase_sizes(x.shape[2:], geometry)
    offsets = tap_offsets(x.shape[1] // groups, sizes, geometry)
    shifts = np.zeros(outputs, x.dtype) if bias is None else np.ascontiguousarray(bias)
    out = np.empty((batch, groups, outputs // groups, *lifted(places, 1)), x.dtype)
    taps = weight.reshape(groups, outputs // groups, -1)
    shifts = shifts.reshape(groups, -1)
    correlate(x, taps, shifts, offsets, geometry.stride, geometry.padding, sizes, out)
    return out.reshape(batch, outputs, *places)


def weight_gradient(grad, x, weight_shape, geometry, groups):
    """The gradient of `convolve`'s weight; grad (batch, outputs, *places)."""
    batch, outputs, *places = grad.shape
    channels, count = weight_shape[1], math.prod(places)
    sizes = phase_sizes(x.shape[2:], geometry)
    flat = phases_last(x, groups, geometry, sizes, slack(x.dtype))
    taps, length = runs(channels, sizes, geometry)
    where = channels * flat_places(sizes, places)
    planes = grad.reshape(batch, groups, outputs // groups, count)
    found = summed_places(flat, channels * math.prod((*geometry.stride, *sizes)), planes, where, taps, length)
    found = found.reshape(outputs, *weight_shape[2:], channels)
    return np.ascontiguousarray(np.moveaxis(found, -1, 1))


def run_length(weight_shape, geometry):
    """How many elements of the kernel lie side by side where channels are innermost: a row, or a tap."""
    is_row = geometry.stride[-1] == geometry.dilation[-1] == 1
    return weight_shape[1] * (weight_shape[-1] if is_row else 1)


def runs(channels, sizes, geometry):
    """(where the runs begin, their length), channels innermost."""
    taps = tap_offsets(1, sizes, geometry, channels)
    length = run_length((1, channels, geometry.kernel[-1]), geometry)
    return np.ascontiguousarray(taps[:: length // channels]), length


def flat_places(sizes, places):
    """Where each place of the result lies in a flat phase."""
    steps = np.cumprod((1, *sizes[:0:-1]))[::-1]
    found = np.zeros(1, np.int64)
    for step, n in zip(steps, places):
        found = np.add.outer(found, np.arange(n) * step)
    return found.reshape(-1).astype(np.int64)


def summed_places(flat, elements, grad, places, runs, length):
    """(groups, channels, runs, length): the sums over all places. Each thread sums a part; the parts are added
    in their order, since sums of floats depend on it."""
    rows, vectors, lanes = tiles.shape(flat.dtype.itemsize)
    groups, channels = grad.shape[1:3]
    wide = vectors * lanes
    shape = (groups, -(-channels // rows) * rows, len(runs), -(-length // wide) * wide)
    total, kernel, parts = grad.shape[0] * len(places), _weight(flat.dtype.itemsize), {}

    def body(begin, end):
        parts[begin] = np.zeros(shape, flat.dtype)
        kernel(flat, elements, grad, places, runs, length, parts[begin], begin, end)

    share = 4 if math.prod(shape) < FEW else 2  # parts for each thread, which must be added in the end
    parallel_for(total, max(PLACES, -(-total // (share * get_num_threads()))), body)
    first, *others = [parts[begin] for begin in sorted(parts)]
    for part in others:
        first += part
    return first[:, :channels, :, :length]


def convolve_transposed(grad, weight, space, geometry, groups):
    """The gradient of `convolve`'s x, (batch, channels, *space)."""
    channels = weight.shape[1]
    found = np.empty((len(grad), groups, channels, *space), grad.dtype)
    for phase in itertools.product(*map(range, geometry.stride)):
        fill_phase(grad, weight, phase, geometry, groups, found)
    return found.reshape(len(grad), groups * channels, *space)


def fill_phase(grad, weight, phase, geometry, groups, found):
    """Fill one phase of the input's gradient, `found`, from the elements of the kernel that fall into it."""
    stride, padding, space = geometry.stride, geometry.padding, found.shape[3:]
    skipped = [max(0, -(-(p - f) // s)) for p, f, s in zip(padding, phase, stride)]  # that are padding only
    every = [slice(f + s * i - p, n, s) for f, s, i, p, n in zip(phase, stride, skipped, padding, space)]
    out = found[(..., *every)]
    reach = tuple([(k - 1) * d // s for k, d, s in zip(geometry.kernel, geometry.dilation, stride)])
    front = [r - i for r, i in zip(reach, skipped)]
    sizes = tuple([n + r for n, r in zip(out.shape[3:], reach)])
    outputs, kernel = weight.shape[0] // groups, tuple(zip(geometry.kernel, stride, geometry.dilation))
    taken, offsets = taps_of_phase(outputs, sizes, reach, kernel, phase)
    parts = weight.reshape(groups, outputs, *weight.shape[1:]).swapaxes(1, 2)
    taps = parts[(..., *np.ix_(*taken))].reshape(groups, weight.shape[1], offsets.size)
    out = out[(slice(None),) * 3 + (None,) * (3 - len(space))]  # three dimensions of space
    correlate(grad, taps, np.zeros(taps.shape[:2], grad.dtype), offsets, (1,) * len(space), front, sizes, out)


@functools.lru_cache(maxsize=256)
def taps_of_phase(outputs, wide, reach, kernel, phase):
    """(the elements of the kernel that fall into the phase, by dimension; where they reach it in flat images
    `wide`)."""
    taken = [[i for i in range(k) if i * d % s == first] for (k, s, d), first in zip(kernel, phase)]
    offsets = np.arange(outputs) * math.prod(wide)
    for axis, (indices, (_, s, d)) in enumerate(zip(taken, kernel)):
        back = np.array([reach[axis] - i * d // s for i in indices], int)
        offsets = np.add.outer(offsets, back * math.prod(wide[axis + 1 :]))
    return taken, offsets.reshape(-1).astype(np.int64)
