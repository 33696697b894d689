"""Windows that slide over planes of three dimensions: columns for convolutions, averages, maxima.

A convolution is a matrix product once every window lies in a column (im2col); its transpose adds columns up
where they came from. Each thread makes one element of a result: it *collects* all that comes there, so that
no two threads write to one place and no atomics are needed.

Sizes are those of kernels/columns.py and kernels/pooling.py: lists of three, `kernel`, `stride`, `padding`,
`dilation`.
"""

import numpy as np

from . import walk

NAMES = "dhw"


def of_window(prefix, values):
    """{"stride_d": ..., "stride_h": ..., "stride_w": ...}, for the numbers of a kernel."""
    return {f"{prefix}_{name}": int(value) for name, value in zip(NAMES, values, strict=True)}


def numbers_of(space, places, kernel, stride, padding, dilation):
    found = {}
    for prefix, values in (
        ("space", space), ("places", places), ("kernel", kernel), ("stride", stride), ("padding", padding),
        ("dilation", dilation),
    ):  # fmt: skip
        found |= of_window(prefix, values)
    return found


# n counts (plane, kernel place, window place); the columns are contiguous in that order.
TO_COLUMNS = """
d = at4 * stride_d - padding_d + at1 * dilation_d
h = at5 * stride_h - padding_h + at2 * dilation_h
w = at6 * stride_w - padding_w + at3 * dilation_w
value = np.{dtype}(0)
if d >= 0 and d < space_d and h >= 0 and h < space_h and w >= 0 and w < space_w:
    value = x[((at0 * space_d + d) * space_h + h) * space_w + w]
columns[n] = value
"""

# The windows that hold this element, and at which of their places.
FROM_COLUMNS = """
total = np.{dtype}(0)
for a in range(kernel_d):
    d = at1 + padding_d - a * dilation_d
    if d >= 0 and d % stride_d == 0 and d // stride_d < places_d:
        for b in range(kernel_h):
            h = at2 + padding_h - b * dilation_h
            if h >= 0 and h % stride_h == 0 and h // stride_h < places_h:
                for c in range(kernel_w):
                    w = at3 + padding_w - c * dilation_w
                    if w >= 0 and w % stride_w == 0 and w // stride_w < places_w:
                        tap = ((at0 * kernel_d + a) * kernel_h + b) * kernel_w + c
                        place = (tap * places_d + d // stride_d) * places_h + h // stride_h
                        total += columns[place * places_w + w // stride_w]
x[n] = total
"""


def to_columns(columns, x, planes, space, places, kernel, stride, padding, dilation, stream=0):
    """Fill `columns` (planes, *kernel, *places) from x (planes, *space); both flat and contiguous."""
    body = TO_COLUMNS.format(dtype=np.dtype(x.dtype))
    numbers = numbers_of(space, places, kernel, stride, padding, dilation)
    memory = {"columns": columns, "x": x}
    walk.run("to_columns", body, (planes, *kernel, *places), {}, memory, numbers, stream=stream)


def from_columns(x, columns, planes, space, places, kernel, stride, padding, dilation, stream=0):
    """Fill x (planes, *space) with the sums of what `columns` (planes, *kernel, *places) hold of each place."""
    body = FROM_COLUMNS.format(dtype=np.dtype(x.dtype))
    numbers = numbers_of(space, places, kernel, stride, padding, dilation)
    memory = {"x": x, "columns": columns}
    walk.run("from_columns", body, (planes, *space), {}, memory, numbers, stream=stream)


# A window's ends: PyTorch clips a window to the padded plane before it counts its elements.
AVERAGE = """
total = np.{dtype}(0)
first_d = at1 * stride_d - padding_d
first_h = at2 * stride_h - padding_h
first_w = at3 * stride_w - padding_w
end_d = min(first_d + kernel_d, space_d + padding_d)
end_h = min(first_h + kernel_h, space_h + padding_h)
end_w = min(first_w + kernel_w, space_w + padding_w)
count = (end_d - first_d) * (end_h - first_h) * (end_w - first_w)
first_d, end_d = max(first_d, 0), min(end_d, space_d)
first_h, end_h = max(first_h, 0), min(end_h, space_h)
first_w, end_w = max(first_w, 0), min(end_w, space_w)
{divisor}
for d in range(first_d, end_d):
    for h in range(first_h, end_h):
        for w in range(first_w, end_w):
            total += x[((at0 * space_d + d) * space_h + h) * space_w + w]
out[n] = total / np.{dtype}(count)
"""

MAXIMUM = """
best = np.{dtype}(0)
place = -1
for a in range(kernel_d):
    d = at1 * stride_d - padding_d + a * dilation_d
    if d >= 0 and d < space_d:
        for b in range(kernel_h):
            h = at2 * stride_h - padding_h + b * dilation_h
            if h >= 0 and h < space_h:
                for c in range(kernel_w):
                    w = at3 * stride_w - padding_w + c * dilation_w
                    if w >= 0 and w < space_w:
                        value = x[((at0 * space_d + d) * space_h + h) * space_w + w]
                        if place < 0 or value > best or value != value:
                            best, place = value, (d * space_h + h) * space_w + w
values[n] = best
indices[n] = place
"""

# Bin k of m over a size s: from k s // m to (k + 1) s / m, rounded up.
ADAPTIVE = """
first_d, end_d = at1 * space_d // places_d, ((at1 + 1) * space_d + places_d - 1) // places_d
first_h, end_h = at2 * space_h // places_h, ((at2 + 1) * space_h + places_h - 1) // places_h
first_w, end_w = at3 * space_w // places_w, ((at3 + 1) * space_w + places_w - 1) // places_w
total = np.{dtype}(0)
for d in range(first_d, end_d):
    for h in range(first_h, end_h):
        for w in range(first_w, end_w):
            total += x[((at0 * space_d + d) * space_h + h) * space_w + w]
out[n] = total / np.{dtype}((end_d - first_d) * (end_h - first_h) * (end_w - first_w))
"""

DIVISORS = {
    "inside": "count = (end_d - first_d) * (end_h - first_h) * (end_w - first_w)",
    "padded": "",
    "given": "count = divisor",
}


def average(out, x, planes, space, places, kernel, stride, padding, counted, divisor, stream=0):
    """Fill `out` (planes, *places) with the means of windows of x (planes, *space).

    `counted`: what a sum is divided by: the elements "inside" the plane, those of the "padded" plane, or the
    "given" divisor.
    """
    body = AVERAGE.format(dtype=np.dtype(x.dtype), divisor=DIVISORS[counted])
    numbers = numbers_of(space, places, kernel, stride, padding, (1, 1, 1)) | {"divisor": int(divisor or 1)}
    walk.run("average", body, (planes, *places), {}, {"out": out, "x": x}, numbers, stream=stream)


def maximum(values, indices, x, planes, space, places, kernel, stride, padding, dilation, stream=0):
    """Fill `values` and `indices` (planes, *places) with each window's maximum, and where in its plane it is."""
    dtype = np.dtype(x.dtype)
    body = MAXIMUM.format(dtype=dtype)
    numbers = numbers_of(space, places, kernel, stride, padding, dilation)
    memory = {"values": values, "indices": indices, "x": x}
    walk.run("maximum", body, (planes, *places), {}, memory, numbers, stream=stream)


def adaptive_average(out, x, planes, space, places, stream=0):
    """Fill `out` (planes, *places) with the means of bins that cover x (planes, *space)."""
    body = ADAPTIVE.format(dtype=np.dtype(x.dtype))
    numbers = of_window("space", space) | of_window("places", places)
    walk.run("adaptive_average", body, (planes, *places), {}, {"out": out, "x": x}, numbers, stream=stream)


# The backward passes of averages: an element collects its share from every window that holds it.
SPREAD = """
from_d = max(0, (at1 + padding_d - kernel_d) // stride_d + 1)
to_d = min(places_d, (at1 + padding_d) // stride_d + 1)
from_h = max(0, (at2 + padding_h - kernel_h) // stride_h + 1)
to_h = min(places_h, (at2 + padding_h) // stride_h + 1)
from_w = max(0, (at3 + padding_w - kernel_w) // stride_w + 1)
to_w = min(places_w, (at3 + padding_w) // stride_w + 1)
total = np.{dtype}(0)
for i in range(from_d, to_d):
    first_d = i * stride_d - padding_d
    end_d = min(first_d + kernel_d, space_d + padding_d)
    for j in range(from_h, to_h):
        first_h = j * stride_h - padding_h
        end_h = min(first_h + kernel_h, space_h + padding_h)
        for k in range(from_w, to_w):
            first_w = k * stride_w - padding_w
            end_w = min(first_w + kernel_w, space_w + padding_w)
            {count}
            total += grad[((at0 * places_d + i) * places_h + j) * places_w + k] / np.{dtype}(count)
x[n] = total
"""

ADAPTIVE_SPREAD = """
total = np.{dtype}(0)
for i in range(at1 * places_d // space_d, ((at1 + 1) * places_d + space_d - 1) // space_d):
    first_d, end_d = i * space_d // places_d, ((i + 1) * space_d + places_d - 1) // places_d
    for j in range(at2 * places_h // space_h, ((at2 + 1) * places_h + space_h - 1) // space_h):
        first_h, end_h = j * space_h // places_h, ((j + 1) * space_h + places_h - 1) // places_h
        for k in range(at3 * places_w // space_w, ((at3 + 1) * places_w + space_w - 1) // space_w):
            first_w, end_w = k * space_w // places_w, ((k + 1) * space_w + places_w - 1) // places_w
            count = (end_d - first_d) * (end_h - first_h) * (end_w - first_w)
            total += grad[((at0 * places_d + i) * places_h + j) * places_w + k] / np.{dtype}(count)
x[n] = total
"""

COUNTS = {
    "inside": "count = (min(end_d, space_d) - max(first_d, 0)) * (min(end_h, space_h) - max(first_h, 0)) "
    "* (min(end_w, space_w) - max(first_w, 0))",
    "padded": "count = (end_d - first_d) * (end_h - first_h) * (end_w - first_w)",
    "given": "count = divisor",
}


def spread(x, grad, planes, space, places, kernel, stride, padding, counted, divisor, stream=0):
    """The gradient of `average`: fill x (planes, *space) from grad (planes, *places)."""
    body = SPREAD.format(dtype=np.dtype(x.dtype), count=COUNTS[counted])
    numbers = numbers_of(space, places, kernel, stride, padding, (1, 1, 1)) | {"divisor": int(divisor or 1)}
    walk.run("spread", body, (planes, *space), {}, {"x": x, "grad": grad}, numbers, stream=stream)


def adaptive_spread(x, grad, planes, space, places, stream=0):
    """The gradient of `adaptive_average`."""
    body = ADAPTIVE_SPREAD.format(dtype=np.dtype(x.dtype))
    numbers = of_window("space", space) | of_window("places", places)
    walk.run("adaptive_spread", body, (planes, *space), {}, {"x": x, "grad": grad}, numbers, stream=stream)
