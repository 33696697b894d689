"""Convolutions and transposed convolutions as modules. Weights start as those of Linear do."""

import math

from ..ops.declare import exports
from . import functional as F
from . import init
from .lazy import LazyModuleMixin
from .module import Module
from .parameter import Parameter, UninitializedParameter

empty = exports[""]["empty"]
PADDING_MODES = {"zeros", "reflect", "replicate", "circular"}


def per_dimension(value, count):
    """A tuple of `count` values from one value, or from a sequence as it is."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * count


def check_arguments(in_channels, out_channels, groups, stride, padding, padding_mode):
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
        if padding == "same" and any([s != 1 for s in stride]):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in PADDING_MODES:
        raise ValueError(f"padding_mode must be one of {PADDING_MODES}, but got padding_mode='{padding_mode}'")


class _ConvNd(Module):
    """What all convolutions share. `count`: the dimensions of space."""

    count = None

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
        bias,
        padding_mode,
        device=None,
        dtype=None,
    ):
        super().__init__()
        check_arguments(in_channels, out_channels, groups, stride, padding, padding_mode)
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, kernel_size
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.transposed, self.output_padding = transposed, output_padding
        self.groups, self.padding_mode = groups, padding_mode
        self._reversed_padding_repeated_twice = border(kernel_size, padding, dilation)
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        self.weight = Parameter(empty((first, second // groups, *kernel_size), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_channels, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw weight and bias anew, uniform in ±1/sqrt(fan_in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def extra_repr(self):
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        zeros, ones = (0,) * len(self.kernel_size), (1,) * len(self.kernel_size)
        shown = (
            ("padding", self.padding, zeros),
            ("dilation", self.dilation, ones),
            ("output_padding", self.output_padding, zeros),
            ("groups", self.groups, 1),
            ("bias", self.bias is not None, True),
            ("padding_mode", self.padding_mode, "zeros"),
        )
        parts += [f"{name}={value}" for name, value, default in shown if value != default]
        return ", ".join(parts)

    def __setstate__(self, state):
        super().__setstate__(state)
        if not hasattr(self, "padding_mode"):
            self.padding_mode = "zeros"


def border(kernel_size, padding, dilation):
    """The padding as nn.functional.pad takes it: two sizes per dimension, from the last dimension on."""
    if not isinstance(padding, str):
        return tuple([p for p in reversed(padding) for _ in range(2)])
    sizes = []
    for kernel, step in zip(reversed(kernel_size), reversed(dilation)):
        total = step * (kernel - 1) if padding == "same" else 0
        sizes += [total // 2, total - total // 2]
    return sizes


class _Convolution(_ConvNd):
    """A convolution that is no transposed one."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        n = self.count
        padding = padding if isinstance(padding, str) else per_dimension(padding, n)
        super().__init__(
            in_channels,
            out_channels,
            per_dimension(kernel_size, n),
            per_dimension(stride, n),
            padding,
            per_dimension(dilation, n),
            False,
            (0,) * n,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input, weight, bias):
        convolve, padding = getattr(F, f"conv{self.count}d"), self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self.count
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Convolution):
    """Convolution over (N, C, L) or (C, L); weight (out_channels, in_channels / groups, k)."""

    count = 1


class Conv2d(_Convolution):
    """Convolution over (N, C, H, W) or (C, H, W); weight (out_channels, in_channels / groups, kh, kw)."""

    count = 2


class Conv3d(_Convolution):
    """Convolution over (N, C, D, H, W) or (C, D, H, W); weight (out_channels, in_channels / groups, kd, kh, kw)."""

    count = 3


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution; weight (in_channels, out_channels / groups, *kernel)."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        n = self.count
        super().__init__(
            in_channels,
            out_channels,
            per_dimension(kernel_size, n),
            per_dimension(stride, n),
            per_dimension(padding, n),
            per_dimension(dilation, n),
            True,
            per_dimension(output_padding, n),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(self, input, output_size):
        """The output padding that gives `output_size`; ValueError if none does."""
        if output_size is None:
            return self.output_padding
        n = self.count
        if len(output_size) == n + (input.dim() - n):
            output_size = output_size[-n:]
        if len(output_size) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or {n + 2} "
                f"elements (got {len(output_size)})"
            )
        smallest = [
            (size - 1) * s - 2 * p + d * (k - 1) + 1
            for size, s, p, d, k in zip(input.shape[-n:], self.stride, self.padding, self.dilation, self.kernel_size)
        ]
        largest = [size + s - 1 for size, s in zip(smallest, self.stride)]
        if any([not low <= size <= high for size, low, high in zip(output_size, smallest, largest)]):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {smallest} to "
                f"{largest} (for an input of {input.size()[2:]})"
            )
        return [size - low for size, low in zip(output_size, smallest)]

    def forward(self, input, output_size=None):
        output_padding = self._output_padding(input, output_size)
        convolve = getattr(F, f"conv_transpose{self.count}d")
        return convolve(
            input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation
        )


class ConvTranspose1d(_ConvTransposeNd):
    """The transpose of Conv1d. `output_padding` makes the result larger, since several sizes give one under Conv1d."""

    count = 1


class ConvTranspose2d(_ConvTransposeNd):
    """The transpose of Conv2d; see ConvTranspose1d."""

    count = 2


class ConvTranspose3d(_ConvTransposeNd):
    """The transpose of Conv3d; see ConvTranspose1d."""

    count = 3


# ---- convolutions that find out their in_channels ---


class _LazyConvXdMixin(LazyModuleMixin):
    """What lazy convolutions share; the first call makes each an ordinary one."""

    def _await_input(self, out_channels, bias, device, dtype):
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        """Draw weight and bias anew, once they are there."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        """Give weight and bias their shapes and first values."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        first, second = self.out_channels, self.in_channels
        if self.transposed:
            first, second = second, first
        self.weight.materialize((first, second // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self, input):
        n = self._get_num_spatial_dims()
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {type(self).__name__}, but got input "
                f"of size: {input.shape}"
            )
        return input.shape[-n - 1]

    def _get_num_spatial_dims(self):
        return self.count


class _LazyConvolution(_LazyConvXdMixin):
    def __init__(
        self,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._await_input(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvXdMixin):
    def __init__(
        self,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._await_input(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConvolution, Conv1d):
    """A Conv1d whose in_channels are those of its first input; that call makes it a Conv1d."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConvolution, Conv2d):
    """A Conv2d whose in_channels are those of its first input; that call makes it a Conv2d."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConvolution, Conv3d):
    """A Conv3d whose in_channels are those of its first input; that call makes it a Conv3d."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A ConvTranspose1d whose in_channels are those of its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ConvTranspose2d whose in_channels are those of its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ConvTranspose3d whose in_channels are those of its first input."""

    cls_to_become = ConvTranspose3d
