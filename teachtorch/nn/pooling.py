"""Pooling as modules."""

from . import functional as F
from .conv import per_dimension
from .module import Module


class _MaxPoolNd(Module):
    """The maximum of each window. `stride`: the kernel size if left out; `return_indices`: also where they are."""

    count = None

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input):
        pool = getattr(F, f"max_pool{self.count}d")
        return pool(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )

    def extra_repr(self):
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """Maxima of windows of (N, C, L) or (C, L)."""

    count = 1


class MaxPool2d(_MaxPoolNd):
    """Maxima of windows of (N, C, H, W) or (C, H, W)."""

    count = 2


class MaxPool3d(_MaxPoolNd):
    """Maxima of windows of (N, C, D, H, W) or (C, D, H, W)."""

    count = 3


class _MaxUnpoolNd(Module):
    """Puts maxima back to where they came from, with zeros elsewhere."""

    count = None

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = per_dimension(kernel_size, self.count)
        self.stride = per_dimension(stride if stride is not None else kernel_size, self.count)
        self.padding = per_dimension(padding, self.count)

    def forward(self, input, indices, output_size=None):
        unpool = getattr(F, f"max_unpool{self.count}d")
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """The partial inverse of MaxPool1d."""

    count = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """The partial inverse of MaxPool2d."""

    count = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """The partial inverse of MaxPool3d."""

    count = 3


class _AvgPoolNd(Module):
    """The mean of each window. `count_include_pad`: whether the padding's zeros count."""

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """Means of windows of (N, C, L) or (C, L)."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__()
        self.kernel_size = per_dimension(kernel_size, 1)
        self.stride = per_dimension(stride if stride is not None else kernel_size, 1)
        self.padding = per_dimension(padding, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input):
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPoolWithDivisor(_AvgPoolNd):
    """`divisor_override`: what sums are divided by in place of the number of elements."""

    count = None

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
    ):
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = stride if stride is not None else kernel_size
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input):
        pool = getattr(F, f"avg_pool{self.count}d")
        window = self.kernel_size, self.stride, self.padding
        return pool(input, *window, self.ceil_mode, self.count_include_pad, self.divisor_override)


class AvgPool2d(_AvgPoolWithDivisor):
    """Means of windows of (N, C, H, W) or (C, H, W)."""

    count = 2


class AvgPool3d(_AvgPoolWithDivisor):
    """Means of windows of (N, C, D, H, W) or (C, D, H, W)."""

    count = 3


class _AdaptivePoolNd(Module):
    """Pooling to a given size."""

    function = None

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return getattr(F, self.function)(input, self.output_size)

    def extra_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptivePoolNd):
    """Means of (N, C, L) or (C, L) in output_size bins."""

    function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptivePoolNd):
    """Means of (N, C, H, W) or (C, H, W) in output_size bins; None keeps a dimension."""

    function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptivePoolNd):
    """Means of (N, C, D, H, W) or (C, D, H, W) in output_size bins; None keeps a dimension."""

    function = "adaptive_avg_pool3d"


class _AdaptiveMaxPoolNd(_AdaptivePoolNd):
    """Maxima of bins; `return_indices`: also where they are."""

    def __init__(self, output_size, return_indices=False):
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input):
        return getattr(F, self.function)(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima of (N, C, L) or (C, L) in output_size bins."""

    function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima of (N, C, H, W) or (C, H, W) in output_size bins."""

    function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima of (N, C, D, H, W) or (C, D, H, W) in output_size bins."""

    function = "adaptive_max_pool3d"


class _LPPoolNd(Module):
    """(sum of x^norm_type)^(1 / norm_type) of each window."""

    count = None

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input):
        pool = getattr(F, f"lp_pool{self.count}d")
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """Power averages of windows of (N, C, L) or (C, L)."""

    count = 1


class LPPool2d(_LPPoolNd):
    """Power averages of windows of (N, C, H, W) or (C, H, W)."""

    count = 2


class LPPool3d(_LPPoolNd):
    """Power averages of windows of (N, C, D, H, W) or (C, D, H, W)."""

    count = 3


class _FractionalMaxPoolNd(Module):
    """The maximum of windows at random steps. Exactly one of `output_size` and `output_ratio` is given.

    `return_indices`: also where the maxima are; `_random_samples`: numbers in [0, 1) that replace the random ones.
    ValueError for other arguments. Source: Graham, Fractional Max-Pooling, 2014.
    """

    count = None

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        self.kernel_size = self._checked_kernel(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self._check_size(output_size, output_ratio)
        self.output_size = None if output_size is None else per_dimension(output_size, self.count)
        self.output_ratio = None if output_ratio is None else per_dimension(output_ratio, self.count)

    def _checked_kernel(self, kernel_size):
        return per_dimension(kernel_size, self.count)

    def _check_size(self, output_size, output_ratio):
        if output_size is None and output_ratio is None:
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if output_ratio is not None and not all(0 < r < 1 for r in per_dimension(output_ratio, self.count)):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input):
        pool = getattr(F, f"fractional_max_pool{self.count}d")
        sizes = self.kernel_size, self.output_size, self.output_ratio
        return pool(input, *sizes, self.return_indices, _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Maxima of windows of (N, C, H, W) or (C, H, W) at random steps."""

    count = 2


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """Maxima of windows of (N, C, T, H, W) or (C, T, H, W) at random steps."""

    count = 3

    def _checked_kernel(self, kernel_size):
        if min(per_dimension(kernel_size, 3)) <= 0:
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        return super()._checked_kernel(kernel_size)
