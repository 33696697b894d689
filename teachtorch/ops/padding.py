"""Padding: constant, reflected, replicated and circular borders.

`pad` and `padding` name two numbers per dimension, before and after it, from the last dimension on; negative
ones cut.
"""

import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from .declare import LINEAR, composite, exports, operator
from .fake import Fake
from .sequences import number_in

REFLECTED, REPLICATED = "reflection", "replication"


def pairs_of(pad):
    """(before, after) by dimension from the last on."""
    return [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]


# ---- constant ---


def constant_shape(shape, pad):
    """The padded shape. RuntimeError where pad does not fit."""
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * len(shape):
        raise RuntimeError(
            f"Length of pad should be no more than twice the number of dimensions of the input. Pad "
            f"length is {len(pad)} while the input has {len(shape)} dimensions."
        )
    sizes = list(shape)
    for i, (before, after) in enumerate(pairs_of(pad), 1):
        sizes[-i] += before + after
        if sizes[-i] < 0:
            raise RuntimeError(
                f"The input size {shape[-i]}, plus negative padding {before} and {after} resulted in a "
                "negative output size, which is invalid. Check dimension "
                f"{len(shape) - i} of your input."
            )
    return tuple(sizes)


def fake_constant(self, pad, value=0):
    return Fake(constant_shape(self._shape, pad), self._dtype)


@operator(
    "constant_pad_nd",
    spaces=("",),
    out=False,
    fake=fake_constant,
    format_of=("self",),
    jvp=lambda self_t, pad: constant_pad_nd(self_t, pad),
    vjp={"self": lambda grad, pad: constant_pad_nd(grad, [-p for p in pad])},
)
def constant_pad_nd(self, pad, value=0):
    """The tensor with `value` around it, or cut where `pad` is negative."""
    found = np.full(constant_shape(self.shape, pad), number_in(dt.from_numpy(self.dtype), value), self.dtype)
    target, source = [slice(None)] * self.ndim, [slice(None)] * self.ndim
    for i, (before, after) in enumerate(pairs_of(pad), 1):
        size = self.shape[-i]
        target[-i] = slice(max(before, 0), found.shape[-i] - max(after, 0))
        source[-i] = slice(max(-before, 0), size - max(-after, 0))
    found[tuple(target)] = self[tuple(source)]
    return found


# ---- reflected and replicated ---


def positions(kind, size, before, after):
    """Where each element along a padded dimension comes from."""
    wanted = np.arange(-before, size + after)
    if kind == REPLICATED:
        return wanted.clip(0, size - 1)
    return np.abs(wanted) if size == 1 else size - 1 - np.abs(size - 1 - np.abs(wanted))


def border_shape(kind, count, shape, padding):
    """The padded shape. RuntimeError where the padding does not fit."""
    if len(padding) != 2 * count:
        raise RuntimeError(f"padding size is expected to be {2 * count}, but got: {len(padding)}")
    is_valid = len(shape) in (count + 1, count + 2) and 0 not in shape[-count - 1 :]
    if not is_valid:
        raise RuntimeError(
            f"Expected {count + 1}D or {count + 2}D (batch mode) tensor with possibly 0 batch size and "
            f"other non-zero dimensions for input, but got: {list(shape)}"
        )
    sizes = list(shape)
    for i, (before, after) in enumerate(pairs_of(padding), 1):
        if kind == REFLECTED and (before >= shape[-i] or after >= shape[-i]):
            raise RuntimeError(
                f"Argument #{2 * i + 2}: Padding size should be less than the corresponding input "
                f"dimension, but got: padding ({before}, {after}) at dimension {len(shape) - i} of "
                f"input {list(shape)}"
            )
        sizes[-i] += before + after
    if min(sizes[-count:]) < 1:
        raise RuntimeError(too_small(shape, sizes, count))
    return tuple(sizes)


def too_small(shape, sizes, count):
    names = ("W",) if count == 1 else ("H", "W") if count == 2 else ("D", "H", "W")
    given, found = (" ".join(f"{n}: {size}" for n, size in zip(names, part[-count:])) for part in (shape, sizes))
    return f"input ({given}) is too small. Calculated output {found}"


def check_border_dtype(kind, count, dtype):
    if dtype.name == "bool":
        raise NotImplementedError(f"\"{kind}_pad{count}d\" not implemented for '{scalar_type_name(dtype)}'")


def bordered(kind, count, array, padding):
    border_shape(kind, count, array.shape, padding)
    if array.dtype.kind == "b":
        raise TypeError(f"{kind}_pad{count}d: bools")
    found = array
    for i, (before, after) in enumerate(pairs_of(padding), 1):
        found = found.take(positions(kind, array.shape[-i], before, after), -i)
    return found


def border_gradient(kind, grad, shape, padding):
    """Every element's gradients added up where it came from."""
    found = grad
    for i, (before, after) in enumerate(pairs_of(padding), 1):
        found = gathered_back(found, positions(kind, shape[-i], before, after), shape[-i], -i)
    return np.ascontiguousarray(found)


def gathered_back(grad, places, size, axis):
    """Add slices of `grad` along an axis to their places; consecutive runs of places are added at once."""
    grad = np.moveaxis(grad, axis, 0)
    found = np.zeros((size, *grad.shape[1:]), grad.dtype)
    for begin, end in runs(places):
        found[places[begin] : places[end - 1] + 1] += grad[begin:end]
    return np.moveaxis(found, 0, axis)


def runs(places):
    """Ranges in which the places rise by one."""
    breaks = (np.diff(places) != 1).nonzero()[0] + 1
    return zip([0, *breaks], [*breaks, len(places)])


def declare_border(kind, count):
    """Declare `reflection_pad2d` and the like with its backward operator; return the public function."""
    name = f"{kind}_pad{count}d"

    def fake(self, padding):
        check_border_dtype(kind, count, self._dtype)
        return Fake(border_shape(kind, count, self._shape, padding), self._dtype)

    def forward(self, padding):
        return bordered(kind, count, self, padding)

    def backward(grad_output, self, padding):
        return border_gradient(kind, grad_output, self.shape, padding)

    forward.__doc__ = f"A border of {count} dimensions, {kind}: two sizes each, from the last on."
    backward.__doc__ = f"The gradient of `{name}`'s input."
    border = operator(
        name,
        spaces=(),
        out=False,
        fake=fake,
        jvp=LINEAR,
        format_of=("self",),
        vjp={"self": lambda grad, self, padding: slope(grad, self, padding)},
    )(forward)
    slope = operator(
        f"{name}_backward",
        spaces=(),
        out=False,
        jvp=lambda grad_output_t, self, padding: 0 if grad_output_t is None else slope(grad_output_t, self, padding),
        format_of=("self",),
        fake=lambda grad_output, self, padding: Fake(self._shape, grad_output._dtype),
        vjp={"grad_output": lambda grad, padding: border(grad, padding)},
    )(backward)
    return border


BORDERS = {(kind, count): declare_border(kind, count) for kind in (REFLECTED, REPLICATED) for count in (1, 2, 3)}


# ---- circular ---


@composite("_pad_circular", spaces=())
def pad_circular(self, pad):
    """The tensor, and on each side a part of its other end."""
    found = self
    for i, (before, after) in enumerate(pairs_of(pad), 1):
        dim = len(self._shape) - i
        check_wrapping(self._shape[dim], before, after)
        found = wrapped_around(found, dim, before, after)
    return found


def check_wrapping(size, before, after):
    if before > size or after > size:
        raise RuntimeError("Padding value causes wrapping around more than once.")
    if size + before + after < 0:
        raise RuntimeError("Negative padding value is resulting in an empty dimension")


def wrapped_around(t, dim, before, after):
    size = t._shape[dim]
    begin, end = max(-before, 0), size - max(-after, 0)
    parts = [t.narrow(dim, begin, end - begin)]
    if before > 0:
        parts.insert(0, t.narrow(dim, end - before, before))
    if after > 0:
        parts.append(t.narrow(dim, begin, after))
    return exports[""]["cat"](parts, dim)


# ---- nn.functional.pad ---

NAMES = {"reflect": REFLECTED, "replicate": REPLICATED}
SUPPORTED = ((2, 2), (2, 3), (4, 3), (4, 4), (6, 4), (6, 5))  # (length of pad, dimensions of the input)
UNSUPPORTED = (
    "Padding size {} is not supported for {}D input tensor.\n"
    "Supported combinations for non-constant padding:\n"
    "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
    "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
    "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
)


@composite("pad", spaces=("nn.functional",))
def pad(input, pad, mode="constant", value=None):
    """The tensor with a border.

    Args:
        pad: two sizes per dimension, before and after it, from the last dimension on; negative ones cut.
        mode: "constant" (any number of dimensions), "reflect", "replicate" or "circular" (the last one to
        three).
        value: of a constant border, 0 if left out.
    """
    pad, ndim = tuple(pad), len(input._shape)
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * ndim:
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pad)} and input of dimension {ndim}"
        )
    if mode == "constant":
        return constant_pad_nd(input, pad, 0 if value is None else value)
    if value not in (None, 0):
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if (len(pad), ndim) not in SUPPORTED:
        raise NotImplementedError(UNSUPPORTED.format(len(pad), ndim))
    if mode == "circular":
        return pad_circular(input, pad)
    if mode not in NAMES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return BORDERS[NAMES[mode], len(pad) // 2](input, pad)
