"""Blocks under a sliding window as columns, and back: unfold (im2col) and fold (col2im)."""

import math

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..kernels.columns import Geometry, from_columns, to_columns
from .declare import LINEAR, operator, publish
from .fake import Fake
from .reduction_arrays import widened


def pair(value, name):
    """Two ints from one or two. RuntimeError for another number of them."""
    if isinstance(value, int):
        return value, value
    values = tuple(value)
    if len(values) not in (1, 2):
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(values)}")
    return values * 2 if len(values) == 1 else values


def check_blocks(kernel, dilation, padding, stride):
    for name, short, (h, w) in (
        ("kernel size", "kernel", kernel),
        ("dilation", "dilation", dilation),
        ("stride", "stride", stride),
    ):
        if h <= 0 or w <= 0:
            raise RuntimeError(
                f"{name} should be greater than zero, but got {short}_height: {h} {short}_width: {w}"
            )
    if min(padding) < 0:
        raise RuntimeError(
            f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: {padding[1]}"
        )


def check_im2col(shape, dtype, kernel_size, dilation, padding, stride):
    """The places of the blocks."""
    check_blocks(kernel_size, dilation, padding, stride)
    is_valid = len(shape) in (3, 4) and 0 not in shape[-3:]
    if not is_valid:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    places = Geometry(kernel_size, stride, padding, dilation).places(shape[-2:])
    if min(places) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(shape[-2:])}, kernel_size={tuple(kernel_size)}, "
            f"dilation={tuple(dilation)}, padding={tuple(padding)}, calculated shape of the array of "
            f"sliding blocks as {places}, but its components must be at least one."
        )
    check_floating(dtype, "im2col_out_cpu")
    return places


def check_floating(dtype, kernel):
    if not dtype.is_floating_point and dtype is not dt.bool:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type_name(dtype)}'")


def fake_im2col(self, kernel_size, dilation, padding, stride):
    places = check_im2col(self._shape, self._dtype, kernel_size, dilation, padding, stride)
    *batch, channels, _, _ = self._shape
    return Fake((*batch, channels * math.prod(kernel_size), math.prod(places)), self._dtype)


def four_dimensional(array):
    return array[None] if array.ndim == 3 else array


@operator(
    "im2col",
    spaces=(),
    out=False,
    fake=fake_im2col,
    jvp=LINEAR,
    vjp={
        "self": lambda grad, self_shape, kernel_size, dilation, padding, stride: col2im(
            grad, self_shape[-2:], kernel_size, dilation, padding, stride
        )
    },
)
def im2col(self, kernel_size, dilation, padding, stride):
    """The sliding blocks of (N, C, H, W) or (C, H, W) as columns, (N, C * kernel, places)."""
    places = check_im2col(self.shape, dt.from_numpy(self.dtype), kernel_size, dilation, padding, stride)
    columns = to_columns(four_dimensional(self), Geometry(kernel_size, stride, padding, dilation))
    *batch, channels, _, _ = self.shape
    return columns.reshape(*batch, channels * math.prod(kernel_size), math.prod(places))


def check_col2im(shape, dtype, output_size, kernel_size, dilation, padding, stride):
    check_blocks(kernel_size, dilation, padding, stride)
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    kernel, dim = tuple(kernel_size), len(shape) - 2
    if shape[-2] % math.prod(kernel):
        raise RuntimeError(
            f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but "
            f"got input.size(1)={shape[-2]} and kernel_size={kernel}."
        )
    places = Geometry(kernel, stride, padding, dilation).places(output_size)
    given = (
        f"Given output_size={tuple(output_size)}, kernel_size={kernel}, dilation={tuple(dilation)}, "
        f"padding={tuple(padding)}, stride={tuple(stride)}, "
    )
    if shape[-1] != math.prod(places):
        raise RuntimeError(
            f"{given}expected size of input's dimension 2 to match the calculated number of sliding "
            f"blocks {places[0]} * {places[1]} = {math.prod(places)}, but got "
            f"input.size({dim + 1})={shape[-1]}."
        )
    if min(places) < 1:
        raise RuntimeError(
            f"{given}calculated shape of the array of sliding blocks as {places}, which is too small "
            "(non-positive)"
        )
    check_floating(dtype, "col2im_out_cpu")
    return places


def fake_col2im(self, output_size, kernel_size, dilation, padding, stride):
    check_col2im(self._shape, self._dtype, output_size, kernel_size, dilation, padding, stride)
    *batch, rows, _ = self._shape
    return Fake((*batch, rows // math.prod(kernel_size), *output_size), self._dtype)


@operator(
    "col2im",
    spaces=(),
    out=False,
    fake=fake_col2im,
    jvp=LINEAR,
    vjp={
        "self": lambda grad, kernel_size, dilation, padding, stride: im2col(
            grad, kernel_size, dilation, padding, stride
        )
    },
)
def col2im(self, output_size, kernel_size, dilation, padding, stride):
    """Columns (N, C * kernel, places) added up where im2col takes them from, (N, C, *output_size)."""
    places = check_col2im(
        self.shape, dt.from_numpy(self.dtype), output_size, kernel_size, dilation, padding, stride
    )
    *batch, rows, _ = self.shape
    channels = rows // math.prod(kernel_size)
    wide = widened(self)
    columns = wide.reshape(math.prod(batch), channels, *kernel_size, *places)
    found = from_columns(columns, output_size, Geometry(kernel_size, stride, padding, dilation))
    found = found.reshape(*batch, channels, *output_size)
    return found.astype(self.dtype, order="C")


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Every block of (N, C, H, W) or (C, H, W) that a kernel covers as a column, (N, C * kernel, places)."""
    sizes = [
        pair(v, n)
        for v, n in (
            (kernel_size, "kernel_size"),
            (dilation, "dilation"),
            (padding, "padding"),
            (stride, "stride"),
        )
    ]
    if len(input._shape) < 3:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-len(input._shape)}, "
            f"{len(input._shape) - 1}], but got 2)"
        )
    return im2col(input, *sizes)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Columns (N, C * kernel, places) as an image (N, C, *output_size), overlaps added up: the transpose of unfold."""
    sizes = [
        pair(v, n)
        for v, n in (
            (output_size, "output_size"),
            (kernel_size, "kernel_size"),
            (dilation, "dilation"),
            (padding, "padding"),
            (stride, "stride"),
        )
    ]
    return col2im(input, *sizes)


for _function in (unfold, fold):
    publish(_function.__name__, _function, ("nn.functional",))
