"""The gradient of a convolution's weight where each group has one channel: no vector of channels can be made.

Each element of it is the product of the result's gradient and a shifted copy of the image, summed over all
places. As in direct_convolution, rows are one long row; the gradient is spread to match, with zeros between.
"""

import functools

import numpy as np

from .cache import load_module
from .columns import lifted
from .parallel import parallel_for
from .phases import phase_sizes, phases_first, row_numbers, tap_offsets

TAPS = 3  # summed at a time: divides 3x3, and few enough for LLVM to prove that nothing overlaps
LANES = 1024  # places that are taken together
GRAIN = 1 << 19  # multiplications that are worth a thread

HEADER = f'''"""Gradients of weights as sums over shifted rows."""
import numpy as np
from numba import njit

FAST = {{"contract", "reassoc", "nsz"}}
TAPS, LANES = {TAPS}, {LANES}
'''

WEIGHT = '''
@njit(cache=True, nogil=True, error_model="numpy")
def kernel(x, grad, offsets, out, row, slab, rows, columns, begin, end):
    """out (groups, channels, taps); x (batch, groups, elements); grad (batch, groups, channels, *places)."""
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
def _weight():
    parts = (HEADER, add_dots("several", TAPS), add_dots("single", 1), WEIGHT)
    return load_module("thin_convolution", "\n\n".join(parts)).kernel


def weight_gradient(grad, x, weight_shape, geometry):
    """The gradient of the weight (outputs, 1, *kernel) of a convolution with a group for each channel of x
    (batch, channels, *space); grad (batch, outputs, *places)."""
    batch, outputs, *places = grad.shape
    channels, sizes = x.shape[1], phase_sizes(x.shape[2:], geometry)
    offsets = tap_offsets(1, sizes, geometry)
    found = np.zeros((channels, outputs // channels, len(offsets)), x.dtype)
    planes = np.ascontiguousarray(grad).reshape(batch, channels, outputs // channels, *lifted(places, 1))
    source = phases_first(x, geometry, sizes).reshape(batch, channels, -1)
    settings = row_numbers(sizes, places, LANES)
    parallel_for(
        outputs,
        max(1, GRAIN * outputs // max(grad.size * len(offsets), 1)),
        lambda begin, end: _weight()(source, planes, offsets, found, *settings, begin, end),
    )
    return found.reshape(weight_shape)
