"""Copies into and out of views: everything that only moves elements. One kernel serves all of it, the strided
copy of `Launching.copy`; what differs is the geometry, which core/geometry/ knows.
"""

import numpy as np

from ...core import dtype as dt
from ...core import geometry
from ...tensor import Tensor
from ..turning import roll_pairs
from ..padding import pairs_of
from .launching import FLOATS, geometry_of, kernel_for, takes, viewed


def part(t, change, *args):
    """A view by a function of core/geometry/."""
    return viewed(t, *change(*geometry_of(t), *args))


# ---- joining -----------------------------------------------------------------------------------------------


@kernel_for("cat")
def cat(launch, outputs, args):
    tensors, dim = args[0], args[1] if len(args) > 1 else 0
    out = outputs[0]
    if not takes(out, *tensors):
        return False
    tensors = [t for t in tensors if t._shape != (0,) or len(out._shape) == 1]  # PyTorch's legacy: (0,) fits all
    dim, start = geometry.wrap_dim(dim, len(out._shape)), 0
    for t in tensors:
        launch.copy(part(out, geometry.narrow, dim, start, t._shape[dim]), t)
        start += t._shape[dim]


@kernel_for("stack")
def stack(launch, outputs, args):
    tensors, dim = args[0], args[1] if len(args) > 1 else 0
    out = outputs[0]
    if not takes(out, *tensors):
        return False
    for place, t in enumerate(tensors):
        launch.copy(part(out, geometry.select, geometry.wrap_dim(dim, len(out._shape)), place), t)


@kernel_for("block_diag")
def block_diag(launch, outputs, args):
    out, row, column = outputs[0], 0, 0
    if not takes(out, *args[0]):
        return False
    launch.fill(out, 0)
    for t in args[0]:
        rows, columns = (1, 1, *t._shape)[-2:]
        block = part(part(out, geometry.narrow, 0, row, rows), geometry.narrow, 1, column, columns)
        launch.copy(block, part(t, geometry.expand, (rows, columns)))
        row, column = row + rows, column + columns


@kernel_for("repeat")
def repeat(launch, outputs, args):
    """Every dimension of the result is seen as two: which repetition, and where in it."""
    (t, repeats), out = args, outputs[0]
    if not takes(out) or not out.numel():
        return takes(out)
    shape = (1,) * (len(repeats) - len(t._shape)) + t._shape
    target, source = [], []
    steps = (0,) * (len(repeats) - len(t._shape)) + t._stride
    for count, size, step, own in zip(repeats, shape, out._stride, steps):
        target += [(count, step * size), (size, step)]
        source += [0, own]
    sizes, strides = zip(*target) if target else ((), ())
    launch.copy(viewed(out, sizes, strides), viewed(t, sizes, source))


@kernel_for("roll")
def roll(launch, outputs, args):
    """Each dimension is cut where its end comes in at the start: 2 ** dimensions copies of parts."""
    t, out = args[0], outputs[0]
    shifts, dims = roll_pairs(t._shape, args[1], args[2] if len(args) > 2 else ())
    if not takes(out):
        return False
    if not dims:
        t, out, dims = launch.contiguous(t), viewed(out, (out.numel(),), (1,)), (0,)
        t = viewed(t, (t.numel(),), (1,))
    total = {}
    for shift, dim in zip(shifts, dims):
        total[dim] = total.get(dim, 0) + shift
    pieces = [(out, t)]
    for dim, shift in total.items():
        pieces = [piece for pair in pieces for piece in rolled(*pair, dim, shift)]
    for target, source in pieces:
        launch.copy(target, source)


def rolled(out, t, dim, shift):
    size = t._shape[dim]
    if not size:
        return [(out, t)]
    shift %= size
    return [
        (part(out, geometry.narrow, dim, to, count), part(t, geometry.narrow, dim, start, count))
        for to, start, count in ((shift, 0, size - shift), (0, size - shift, shift))
        if count
    ]


# ---- turned around -----------------------------------------------------------------------------------------


@kernel_for("flip")
def flip(launch, outputs, args):
    return turned(launch, outputs[0], args[0], args[0]._stride, geometry.wrap_dims(args[1], len(args[0]._shape)))


@kernel_for("rot90")
def rot90(launch, outputs, args):
    t, k = args[0], (args[1] if len(args) > 1 else 1) % 4
    first, second = [geometry.wrap_dim(d, len(t._shape)) for d in (args[2] if len(args) > 2 else (0, 1))]
    strides = list(t._stride)
    if k % 2:
        strides[first], strides[second] = strides[second], strides[first]
    return turned(launch, outputs[0], t, strides, {0: (), 1: (first,), 2: (first, second), 3: (second,)}[k])


def turned(launch, out, t, strides, dims):
    """Copy with some dimensions walked backwards: a step below 0 from the last element."""
    from ...kernels.cuda import walk

    if not takes(out):
        return False
    steps = [-step if d in dims else step for d, step in enumerate(strides)]
    start = sum((out._shape[d] - 1) * strides[d] for d in dims)
    walked = {"out": (launch.flat(out), out._stride), "x": (launch.flat(t), steps)}
    launch.enqueue(
        lambda stream: walk.run(
            "turned", "out[pout] = x[start + px]", out._shape, walked, numbers={"start": int(start)}, stream=stream
        )
    )


# ---- around and within -------------------------------------------------------------------------------------


@kernel_for("constant_pad_nd")
def constant_pad(launch, outputs, args):
    t, pad, value = (*args, 0)[:3]
    out = outputs[0]
    if not takes(out) or isinstance(value, Tensor):
        return False
    launch.fill(out, value)
    target, source = out, t
    for i, (before, after) in enumerate(pairs_of(pad), 1):
        dim = len(t._shape) - i
        kept = t._shape[dim] + min(before, 0) + min(after, 0)
        target = part(target, geometry.narrow, dim, max(before, 0), kept)
        source = part(source, geometry.narrow, dim, max(-before, 0), kept)
    launch.copy(target, source)


def scattered(launch, out, base, source, change, *args):
    """`out` is a copy of `base` (None: zeros) with `source` in the view of it that `change` makes."""
    if not takes(out, source):
        return False
    launch.fill(out, 0) if base is None else launch.copy(out, base)
    launch.copy(part(out, change, *args), source)


@kernel_for("slice_scatter")
def slice_scatter(launch, outputs, args):
    t, source, dim, start, end, step = (*args, *(0, None, None, 1)[len(args) - 2 :])
    return scattered(launch, outputs[0], t, source, geometry.slice_, dim, start, end, step)


@kernel_for("select_scatter")
def select_scatter(launch, outputs, args):
    return scattered(launch, outputs[0], args[0], args[1], geometry.select, *args[2:])


@kernel_for("diagonal_scatter")
def diagonal_scatter(launch, outputs, args):
    return scattered(launch, outputs[0], args[0], args[1], geometry.diagonal, *args[2:])


@kernel_for("select_backward")
def select_backward(launch, outputs, args):
    return scattered(launch, outputs[0], None, args[0], geometry.select, *args[2:])


@kernel_for("slice_backward")
def slice_backward(launch, outputs, args):
    return scattered(launch, outputs[0], None, args[0], geometry.slice_, *args[2:])


@kernel_for("diagonal_backward")
def diagonal_backward(launch, outputs, args):
    return scattered(launch, outputs[0], None, args[0], geometry.diagonal, *args[2:])


@kernel_for("diagonal_copy")
def diagonal_copy(launch, outputs, args):
    if not takes(outputs[0]):
        return False
    launch.copy(outputs[0], part(args[0], geometry.diagonal, *args[1:]))


@kernel_for("diag_embed")
def diag_embed(launch, outputs, args):
    t, offset, first, second = (*args, *(0, -2, -1)[len(args) - 1 :])
    return scattered(launch, outputs[0], None, t, geometry.diagonal, offset, first, second)


@kernel_for("unfold_backward")
def unfold_backward(launch, outputs, args):
    """Windows may overlap: what several of them hold is added up by atomics."""
    from ...kernels.cuda import picking

    (grad, _, dim, size, step), out = args, outputs[0]
    if out._dtype not in FLOATS:
        return False
    launch.fill(out, 0)
    view, same = part(out, geometry.unfold, dim, size, step), launch.strided(grad)
    bad, target = launch.runtime.bad_index, launch.flat(out)
    launch.enqueue(lambda stream: picking.pick("add", grad._shape, same, target, view._stride, [], bad, stream))


@kernel_for("pixel_shuffle", "pixel_unshuffle")
def pixel_shuffle(launch, outputs, args):
    """(C f f, H, W) and (C, H f, W f) have the same elements, seen as (C, f, f, H, W)."""
    (t, factor), out = args, outputs[0]
    if not takes(out):
        return False
    fine, coarse = (out, t) if launch.op.name == "pixel_shuffle" else (t, out)
    channels, rows, columns = fine._shape[-3], coarse._shape[-2], coarse._shape[-1]
    shape = (*fine._shape[:-3], channels, factor, factor, rows, columns)
    (*_, channel, row, column), (*_, deep, y, x) = fine._stride, coarse._stride
    fine_steps = (*fine._stride[:-3], channel, row, column, row * factor, column * factor)
    coarse_steps = (*coarse._stride[:-3], deep * factor * factor, deep * factor, deep, y, x)
    pair = viewed(fine, shape, fine_steps), viewed(coarse, shape, coarse_steps)
    launch.copy(*(pair if fine is out else reversed(pair)))


# ---- by coordinates ----------------------------------------------------------------------------------------


@kernel_for("tril", "tril_", "triu", "triu_")
def triangle(launch, outputs, args):
    from ...kernels.cuda import walk

    t, diagonal = args[0], args[1] if len(args) > 1 else 0
    out, ndim = outputs[0] if outputs else t, len(t._shape)
    if not takes(out):
        return False
    sign = "<=" if launch.op.name.startswith("tril") else ">="
    body = f"out[pout] = x[px] if at{ndim - 1} - at{ndim - 2} {sign} diagonal else 0"
    walked = {"out": (launch.flat(out), out._stride), "x": (launch.flat(t), t._stride)}
    numbers = {"diagonal": int(diagonal)}
    launch.enqueue(lambda stream: walk.run("triangle", body, t._shape, walked, numbers=numbers, stream=stream))


@kernel_for("eye")
def eye(launch, outputs, args):
    return made(launch, outputs[0], "1 if at0 == at1 else 0", {})


@kernel_for("arange")
def arange(launch, outputs, args):
    start, _, step = args[:3]
    if any(isinstance(n, float) for n in (start, step)) and outputs[0]._dtype not in FLOATS:
        return False
    wide = np.float64 if outputs[0]._dtype in FLOATS else np.int64
    return made(launch, outputs[0], "start + n * step", {"start": wide(start), "step": wide(step)})


def made(launch, out, element, numbers):
    """Fill a tensor with a function of the coordinates."""
    from ...kernels.cuda import walk

    if not takes(out) or out._dtype is dt.bool:
        return False
    walked = {"out": (launch.flat(out), out._stride)}
    launch.enqueue(
        lambda stream: walk.run("made", f"out[pout] = {element}", out._shape, walked, None, numbers, stream=stream)
    )
