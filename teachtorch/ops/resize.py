"""Changes of resolution: interpolation and pixel shuffles. Sampling on a grid is in grid_sample.py."""

import math
import warnings

import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..core.layout import suggested
from ..dispatch.operator import registry
from ..kernels import resize as kernels
from ..tensor import stride_of
from .declare import LINEAR, composite, exports, operator, publish
from .fake import Fake
from .reduction_arrays import widened

AXES = {1: ("W",), 2: ("H", "W"), 3: ("D", "H", "W")}


# ---- interpolation ---


def check_resize(shape, output_size, count):
    """PyTorch's refusals (aten/src/ATen/native/UpSample.h)."""
    if len(output_size) != count:
        raise RuntimeError(f"It is expected output_size equals to {count}, but got size {len(output_size)}")
    if len(shape) != count + 2:
        raise RuntimeError(f"It is expected input_size equals to {count + 2}, but got size {len(shape)}")
    space = shape[2:]
    if min(space) <= 0 or min(output_size) <= 0:
        given, wanted = (
            ", ".join(f"{n}: {size}" for n, size in zip(AXES[count], part)) for part in (space, output_size)
        )
        joint = " and" if count == 1 else ""
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({given}){joint} output ({wanted})"
        )
    if shape[1] == 0:
        raise RuntimeError(
            f"Non-empty {count + 2}D data tensor expected but got a tensor with sizes {list(shape)}"
        )


def check_resize_dtype(dtype, name, count):
    if not dtype.is_floating_point and dtype is not dt.uint8:
        suffix = "_channels_last" if count > 1 else ""
        raise NotImplementedError(
            f"\"{name.removesuffix('_')}{suffix}\" not implemented for '{scalar_type_name(dtype)}'"
        )


def rules_of(kind, space, output_size, align_corners, scales):
    """The rule of each dimension."""
    scales = scales or [None] * len(space)
    found = []
    for size, result, scale in zip(space, output_size, scales):
        if kind in ("nearest", "nearest_exact"):
            found.append(kernels.nearest(size, result, scale, kind == "nearest_exact"))
        elif kind.startswith("smoothed"):
            found.append(kernels.smoothed(size, result, align_corners, scale, kind.rpartition("_")[2]))
        else:
            rule = {"linear": kernels.linear, "cubic": kernels.cubic}[kind]
            found.append(rule(size, result, align_corners, scale))
    return found


def rounded(found, dtype):
    """A result in the input's dtype; integers are rounded."""
    return found.astype(dtype, copy=False) if dtype.kind != "u" else np.rint(found).clip(0, 255).astype(dtype)


def resize_kernel(name, kind, count):
    """The CPU kernel and the fake rule of `upsample_bilinear2d` and the like."""

    def fake(self, output_size, align_corners=False, scales=None):
        check_resize(self._shape, output_size, count)
        check_resize_dtype(self._dtype, name, count)
        return Fake((*self._shape[:2], *output_size), self._dtype)

    def forward(self, output_size, align_corners=False, scales=None):
        check_resize(self.shape, output_size, count)
        check_resize_dtype(dt.from_numpy(self.dtype), name, count)
        rules = rules_of(kind, self.shape[2:], output_size, align_corners, scales)
        is_copy = kind.startswith("nearest")
        wide = self if is_copy else widened(self) if self.dtype.kind != "u" else self.astype(np.float32)
        return rounded(kernels.resample(wide, rules), self.dtype)

    forward.__doc__ = f"(N, C, *space) resized to `output_size` by {kind.replace('_', ' ')} interpolation."
    return forward, fake


def gradient_kernel(name, kind):
    """The CPU kernel of `upsample_bilinear2d_backward` and the like."""

    def backward(grad_output, input_size, align_corners, scales):
        rules = rules_of(kind, input_size[2:], grad_output.shape[2:], align_corners, scales)
        found = kernels.resample_back(widened(grad_output), input_size[2:], rules)
        return found.astype(grad_output.dtype, copy=False)

    backward.__doc__ = f"The gradient of `{name}`'s input, of shape `input_size`."
    return backward


def declare_resize(name, kind, count):
    """Declare `upsample_bilinear2d` and the like with its backward operator, each the other's derivative."""
    forward, fake = resize_kernel(name, kind, count)
    shared = {"spaces": (), "out": False, "jvp": LINEAR}
    resize = operator(name, fake=fake, format_of=("self",), **shared, vjp={
        "self": lambda grad, self_shape, align_corners, scales: back(grad, self_shape, align_corners, scales)
    })(forward)
    back = operator(
        f"{name}_backward",
        fake=lambda grad_output, input_size, align_corners, scales: Fake(input_size, grad_output._dtype),
        format_of=("grad_output",), **shared,
        vjp={"grad_output": lambda grad, grad_output_shape, align_corners, scales: resize(
            grad, grad_output_shape[2:], align_corners, scales)}
    )(gradient_kernel(name, kind))
    node = registry[name].info.derivatives.node_class
    node.__name__ = node.__name__.replace(f"{count}d", f"{count}D")
    return resize


KINDS = (
    ("upsample_nearest1d", "nearest", 1),
    ("upsample_nearest2d", "nearest", 2),
    ("upsample_nearest3d", "nearest", 3),
    ("_upsample_nearest_exact1d", "nearest_exact", 1),
    ("_upsample_nearest_exact2d", "nearest_exact", 2),
    ("_upsample_nearest_exact3d", "nearest_exact", 3),
    ("upsample_linear1d", "linear", 1),
    ("upsample_bilinear2d", "linear", 2),
    ("upsample_trilinear3d", "linear", 3),
    ("upsample_bicubic2d", "cubic", 2),
    ("_upsample_bilinear2d_aa", "smoothed_linear", 2),
    ("_upsample_bicubic2d_aa", "smoothed_cubic", 2),
)
RESIZES = {name: declare_resize(name, kind, count) for name, kind, count in KINDS}
MODES = {("nearest", n): f"upsample_nearest{n}d" for n in (1, 2, 3)}
MODES.update({("nearest-exact", n): f"_upsample_nearest_exact{n}d" for n in (1, 2, 3)})
MODES.update(
    {
        ("linear", 1): "upsample_linear1d",
        ("bilinear", 2): "upsample_bilinear2d",
        ("trilinear", 3): "upsample_trilinear3d",
        ("bicubic", 2): "upsample_bicubic2d",
    }
)
NEEDED = {"linear": 1, "bilinear": 2, "trilinear": 3}


def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """(N, C, *space) with one to three dimensions of space, resized to `size` or by `scale_factor`.

    Args:
        mode: "nearest", "nearest-exact", "linear" (1), "bilinear", "bicubic" (2), "trilinear" (3) or "area".
        align_corners: whether the corners' middles stay where they are, else the corners.
        recompute_scale_factor: take the factor from the rounded sizes rather than as given.
        antialias: average where the result is smaller (bilinear and bicubic).
    """
    count = len(input._shape) - 2
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | "
                "bicubic | trilinear"
            )
    output_size, scales = requested(input._shape[2:], size, scale_factor, count)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if output_size is None:
        output_size = [math.floor(float(n) * s) for n, s in zip(input._shape[2:], scales)]
    if recompute_scale_factor:
        scales = None
    if antialias and (mode not in ("bilinear", "bicubic") or count != 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D "
            "tensor as input"
        )
    if mode == "area" and count in (1, 2, 3):
        return exports["nn.functional"][f"adaptive_avg_pool{count}d"](input, tuple(output_size))
    name = MODES.get((mode, count))
    if name is None:
        raise NotImplementedError(no_such_mode(mode, count))
    name = f"_{name}_aa" if antialias else name
    return RESIZES[name](
        input, tuple(output_size), bool(align_corners), None if scales is None else tuple(scales)
    )


def requested(space, size, scale_factor, count):
    """(sizes or None, factors or None), one of them per dimension."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if isinstance(size, (list, tuple)) and len(size) != count:
            raise ValueError(
                other_dimensions(space, f"output size of {size}", "output size in (o1, o2, ...,oK)")
            )
        return list(size) if isinstance(size, (list, tuple)) else [size] * count, None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if isinstance(scale_factor, (list, tuple)) and len(scale_factor) != count:
        raise ValueError(
            other_dimensions(
                space,
                f"scale_factor of shape {scale_factor}",
                "scale_factor in (s1, s2, ...,sK)",
                "scale_factor",
            )
        )
    return None, list(scale_factor) if isinstance(scale_factor, (list, tuple)) else [scale_factor] * count


def other_dimensions(space, given, form, what="output"):
    return (
        f"Input and {what} must have the same number of spatial dimensions, but got input with spatial dimensions of "
        f"{list(space)} and {given}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and {form} format."
    )


def no_such_mode(mode, count):
    if mode in NEEDED and count in (1, 2, 3):
        return f"Got {count + 2}D input, but {mode} mode needs {NEEDED[mode] + 2}D input"
    return (
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {count + 2}D) for the modes: nearest | linear | "
        f"bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


def warn_of_old_name(name):
    warnings.warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The old name of interpolate."""
    warn_of_old_name("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate in the mode "nearest"."""
    warn_of_old_name("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate in the mode "bilinear", corners on corners."""
    warn_of_old_name("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


for _function in (interpolate, upsample, upsample_nearest, upsample_bilinear):
    publish(_function.__name__, _function, ("nn.functional",))


# ---- pixel shuffles ---


def check_image(shape, factor, name, kind):
    if len(shape) < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {len(shape)} "
            "dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {kind}, but got {factor}")


def shuffled_shape(shape, factor):
    check_image(shape, factor, "pixel_shuffle", "upscale_factor")
    *batch, channels, height, width = shape
    if channels % (factor * factor):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, but input.size(-3)={channels} is not divisible by {factor * factor}"
        )
    return (*batch, channels // factor**2, height * factor, width * factor)


@operator(
    "pixel_shuffle",
    spaces=("", "nn.functional"),
    out=False,
    format_of=("self",),
    jvp=LINEAR,
    fake=lambda self, upscale_factor: Fake(shuffled_shape(self._shape, upscale_factor), self._dtype),
    vjp={"self": lambda grad, upscale_factor: pixel_unshuffle(grad, upscale_factor)},
)
def pixel_shuffle(self, upscale_factor):
    """(..., C r², H, W) to (..., C, H r, W r): channels become neighbouring pixels (Shi et al. 2016)."""
    *batch, channels, height, width = shuffled_shape(self.shape, upscale_factor)
    r = upscale_factor
    parts = self.reshape(math.prod(batch), channels, r, r, height // r, width // r)
    return np.array(parts.transpose(0, 1, 4, 2, 5, 3), order="C").reshape(*batch, channels, height, width)


def unshuffled_shape(shape, factor):
    check_image(shape, factor, "pixel_unshuffle", "downscale_factor")
    *batch, channels, height, width = shape
    for name, size, dim in (("height", height, -2), ("width", width, -1)):
        if size % factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({dim})"
                f"={size} is not divisible by {factor}"
            )
    return (*batch, channels * factor**2, height // factor, width // factor)


@operator(
    "pixel_unshuffle",
    spaces=("", "nn.functional"),
    out=False,
    format_of=("self",),
    jvp=LINEAR,
    fake=lambda self, downscale_factor: Fake(unshuffled_shape(self._shape, downscale_factor), self._dtype),
    vjp={"self": lambda grad, downscale_factor: pixel_shuffle(grad, downscale_factor)},
)
def pixel_unshuffle(self, downscale_factor):
    """The inverse of pixel_shuffle: (..., C, H r, W r) to (..., C r², H, W)."""
    *batch, channels, height, width = unshuffled_shape(self.shape, downscale_factor)
    r = downscale_factor
    parts = self.reshape(math.prod(batch), channels // r**2, height, r, width, r)
    return np.array(parts.transpose(0, 1, 3, 5, 2, 4), order="C").reshape(*batch, channels, height, width)


@composite("channel_shuffle", spaces=("", "nn.functional"))
def channel_shuffle(self, groups):
    """Channels of (N, C, ...) in another order: the first of every group, then the second ones (Zhang et al. 2018)."""
    shape = self._shape
    if len(shape) < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups."
        )
    parts = self.reshape((shape[0], groups, shape[1] // groups, *shape[2:]))
    return parts.transpose(1, 2).reshape(shape).contiguous(memory_format=suggested(shape, stride_of(self)))
