"""Convolutions and transposed convolutions in one to three dimensions, and the blocks of unfold and fold.

A convolution's gradient of its input is a transposed convolution and the other way round, so that
`convolution` and the gradient of its weight are all the operators there are, to any order of differentiation.
"""

import math

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..core.once import warn_once
from ..kernels import convolution as kernels
from ..kernels.columns import Geometry, from_columns, to_columns
from ..tensor import Tensor
from .declare import LINEAR, composite, exports, operator, publish
from .fake import Fake
from .reduction_arrays import widened

# ---- arguments ---


def per_dimension(value, count, name):
    """One int per dimension of space, from one int or a list. RuntimeError for another length."""
    if isinstance(value, int):
        return (value,) * count
    values = tuple(value)
    if len(values) == 1:
        return values * count
    if len(values) != count:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {count} values to match the "
            f"convolution dimensions, but got {name}={list(values)}"
        )
    return values


def check_convolution(
    shape, weight_shape, bias_shape, stride, padding, dilation, transposed, output_padding, groups
):
    """PyTorch's refusals by shape, in its order (aten/src/ATen/native/Convolution.cpp, check_shape_forward)."""
    check_settings(stride, padding, dilation, output_padding)
    if len(shape) != len(weight_shape):
        n = len(weight_shape)
        raise RuntimeError(
            f"Expected {n}-dimensional input for {n}-dimensional weight {list(weight_shape)}, but got "
            f"{len(shape)}-dimensional input of size {list(shape)} instead"
        )
    check_groups(weight_shape, groups)
    check_channels(shape, weight_shape, bias_shape, transposed, groups)
    check_kernel_is_there(weight_shape[2:])
    if transposed:
        check_output_padding(output_padding, stride, dilation)
    else:
        check_kernel_fits(shape, weight_shape, padding, dilation)
    if 0 in weight_shape[2:]:
        refuse_empty_kernel(weight_shape[2:])


def refuse_empty_kernel(kernel):
    if len(kernel) == 3:
        raise RuntimeError(f"kernel size should be greater than zero, but got: {' x '.join(map(str, kernel))} (TxHxW)")
    height, width = (1, *kernel)[-2:]
    raise RuntimeError(f"kernel size should be greater than zero, but got kernel_height: {height} kernel_width: {width}")


def check_settings(stride, padding, dilation, output_padding):
    if any([p < 0 for p in padding]):
        raise RuntimeError("negative padding is not supported")
    if any([p < 0 for p in output_padding]):
        raise RuntimeError("negative output_padding is not supported")
    if any([s <= 0 for s in stride]):
        raise RuntimeError("non-positive stride is not supported")
    if any([d <= 0 for d in dilation]):
        raise RuntimeError("non-positive dilation is not supported")


def check_groups(weight_shape, groups):
    if weight_shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got "
            f"weight of size {list(weight_shape)} instead"
        )
    if weight_shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but "
            f"got weight of size [{list(weight_shape)}] instead"
        )


def check_channels(shape, weight_shape, bias_shape, transposed, groups):
    given = f"Given transposed={int(transposed)}" if transposed else f"Given groups={groups}"
    channels = weight_shape[0] if transposed else weight_shape[1] * groups
    if shape[1] != channels:
        raise RuntimeError(
            f"{given}, weight of size {list(weight_shape)}, expected input{list(shape)} to have "
            f"{channels} channels, but got {shape[1]} channels instead"
        )
    outputs = weight_shape[1] * groups if transposed else weight_shape[0]
    if bias_shape is not None and bias_shape != (outputs,):
        given = f"{given}, weight" if transposed else "Given weight"
        raise RuntimeError(
            f"{given} of size {list(weight_shape)}, expected bias to be 1-dimensional with {outputs} "
            f"elements, but got bias of size {list(bias_shape)} instead"
        )


def check_kernel_is_there(kernel):
    if 0 not in kernel:
        return
    if len(kernel) == 3:
        raise RuntimeError("kernel size should be greater than zero, but got: "
                           f"{' x '.join(map(str, kernel))} (TxHxW)")
    height, width = (1, *kernel) if len(kernel) == 1 else kernel
    raise RuntimeError(
        f"kernel size should be greater than zero, but got kernel_height: {height} kernel_width: {width}"
    )


def check_kernel_fits(shape, weight_shape, padding, dilation):
    sizes = [n + 2 * p for n, p in zip(shape[2:], padding)]
    kernel = [d * (k - 1) + 1 for k, d in zip(weight_shape[2:], dilation)]
    if any([k > n for n, k in zip(sizes, kernel)]):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, sizes))}). Kernel size: "
            f"({' x '.join(map(str, kernel))}). Kernel size can't be greater than actual input size"
        )


AXES = {1: ("width",), 2: ("height", "width"), 3: ("depth", "height", "width")}


def check_output_padding(output_padding, stride, dilation):
    if all([p < s or p < d for p, s, d in zip(output_padding, stride, dilation)]):
        return
    axes = AXES[len(stride)]
    parts = [
        f"{name}_{axis}: {value}"
        for name, values in (("output_padding", output_padding), ("stride", stride), ("dilation", dilation))
        for axis, value in zip(axes, values)
    ]
    raise RuntimeError(
        "output padding must be smaller than either stride or dilation, but got " + " ".join(parts)
    )


def check_dtypes(dtype, weight_dtype, bias_dtype, shape, weight_shape, transposed, groups):
    """One dtype for all. RuntimeError in the words of the kernel that PyTorch would have chosen."""
    if not transposed:
        check_bias_dtype(dtype, bias_dtype)
    if weight_dtype is not dtype:
        by_mkldnn = dtype is dt.bfloat16 or dtype is dt.float32 and is_mkldnn(shape, weight_shape, groups)
        if not by_mkldnn:
            raise RuntimeError(
                f"expected scalar type {scalar_type_name(dtype)} but found {scalar_type_name(weight_dtype)}"
            )
        raise RuntimeError(
            f"Input type ({dt.type_name(dtype)}) and weight type ({dt.type_name(weight_dtype)}) should be the same "
            "or input should be a MKLDNN tensor and weight is a dense tensor"
        )
    check_bias_dtype(dtype, bias_dtype)


def check_bias_dtype(dtype, bias_dtype):
    if bias_dtype not in (None, dtype):
        raise RuntimeError(
            f"Input type ({dt.cpp_name(dtype)}) and bias type ({dt.cpp_name(bias_dtype)}) should "
            "be the same"
        )


def is_mkldnn(shape, weight_shape, groups):
    """Whether PyTorch leaves a float convolution of this size to MKLDNN; small ones it computes itself."""
    is_wide = len(weight_shape) > 3 and min(weight_shape[-2:]) > 3
    return groups > 1 or is_wide or shape[0] > 1 or math.prod(shape) > 20480


def transposed_space(space, kernel, stride, padding, dilation, output_padding):
    """The space of a transposed convolution's result."""
    return tuple(
        [
            (n - 1) * s - 2 * p + d * (k - 1) + o + 1
            for n, k, s, p, d, o in zip(space, kernel, stride, padding, dilation, output_padding)
        ]
    )


def result_shape(shape, weight_shape, stride, padding, dilation, transposed, output_padding, groups):
    kernel = weight_shape[2:]
    if transposed:
        space = transposed_space(shape[2:], kernel, stride, padding, dilation, output_padding)
        if any([n < 1 for n in space]):
            raise RuntimeError(
                f"Given input size per channel: ({' x '.join(map(str, shape[2:]))}). Calculated output "
                f"size per channel: ({' x '.join(map(str, space))}). Output size is too small"
            )
        return (shape[0], weight_shape[1] * groups, *space)
    return (shape[0], weight_shape[0], *Geometry(kernel, stride, padding, dilation).places(shape[2:]))


def fake_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    bias_shape, bias_dtype = (None, None) if bias is None else (bias._shape, bias._dtype)
    check_convolution(
        input._shape, weight._shape, bias_shape, stride, padding, dilation, transposed, output_padding, groups
    )
    check_dtypes(
        input._dtype, weight._dtype, bias_dtype, input._shape, weight._shape, transposed, groups
    )
    return Fake(
        result_shape(
            input._shape, weight._shape, stride, padding, dilation, transposed, output_padding, groups
        ),
        input._dtype,
    )


# ---- the operators ---


def input_slope(grad, weight, input_shape, stride, padding, dilation, transposed, output_padding, groups):
    """The gradient of a convolution's input: the convolution of the other kind."""
    if transposed:
        found = convolution(grad, weight, None, stride, padding, dilation, False, [0] * len(stride), groups)
        for dim, size in enumerate(input_shape[2:], 2):  # output_padding may make room for one place more
            found = found if found._shape[dim] == size else found.narrow(dim, 0, size)
        return found
    smallest = transposed_space(
        grad._shape[2:], weight._shape[2:], stride, padding, dilation, [0] * len(stride)
    )
    missing = [n - m for n, m in zip(input_shape[2:], smallest)]
    return convolution(grad, weight, None, stride, padding, dilation, True, missing, groups)


def weight_slope(grad, input, weight_shape, stride, padding, dilation, transposed, output_padding, groups):
    return weight_backward(
        grad, input, weight_shape, stride, padding, dilation, transposed, output_padding, groups
    )


def bias_slope(grad):
    return grad.sum([0, *range(2, len(grad._shape))])


def convolution_tangent(
    input, weight, input_t, weight_t, bias_t, stride, padding, dilation, transposed, output_padding, groups
):
    settings = (stride, padding, dilation, transposed, output_padding, groups)
    found = 0
    if input_t is not None:
        found = convolution(input_t, weight, None, *settings)
    if weight_t is not None:
        found = found + convolution(input, weight_t, None, *settings)
    if bias_t is None:
        return found
    return found + bias_t.reshape([-1] + [1] * len(stride)).expand(
        result_shape(input._shape, weight._shape, *settings)
    )


@operator(
    "convolution",
    spaces=(),
    out=False,
    fake=fake_convolution,
    jvp=convolution_tangent,
    vjp={"input": input_slope, "weight": weight_slope, "bias": bias_slope},
    format_of=("input", "weight"),
)
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """The cross-correlation of input and weight, or its transpose, for a batch.

    Args:
        input: (N, C, *space), one to three dimensions of space.
        weight: (out_channels, C / groups, *kernel); transposed: (C, out_channels / groups, *kernel).
        bias: (out_channels,), or None.
        stride, padding, dilation, output_padding: a list, one int per dimension of space.
    """
    check_arrays(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    geometry = Geometry(weight.shape[2:], stride, padding, dilation)
    dtype = input.dtype
    input, weight = widened(input), widened(weight)
    bias = None if bias is None else widened(bias)
    if not transposed:
        return kernels.convolve(input, weight, bias, geometry, groups).astype(dtype, copy=False)
    shape = result_shape(input.shape, weight.shape, stride, padding, dilation, True, output_padding, groups)
    found = kernels.convolve_transposed(input, weight, shape[2:], geometry, groups)
    if bias is not None:
        found += bias.reshape([-1] + [1] * len(stride))
    return found.astype(dtype, copy=False)


def public_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    count = weight.dim() - 2
    named = {"stride": stride, "padding": padding, "dilation": dilation, "output_padding": output_padding}
    stride, padding, dilation, output_padding = [per_dimension(value, count, name) for name, value in named.items()]
    return convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


public_convolution.__name__ = public_convolution.__qualname__ = "convolution"
public_convolution.__doc__ = f"{convolution.__doc__}"
publish("convolution", public_convolution, ("",))


def check_arrays(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    check_convolution(
        input.shape,
        weight.shape,
        None if bias is None else bias.shape,
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
    )
    if input.dtype != weight.dtype or bias is not None and bias.dtype != input.dtype:
        check_dtypes(
            dt.from_numpy(input.dtype),
            dt.from_numpy(weight.dtype),
            None if bias is None else dt.from_numpy(bias.dtype),
            input.shape,
            weight.shape,
            transposed,
            groups,
        )


def fake_weight_backward(
    grad, input, weight_shape, stride, padding, dilation, transposed, output_padding, groups
):
    return Fake(weight_shape, input._dtype)


def weight_backward_tangent(
    grad, input, grad_t, input_t, weight_shape, stride, padding, dilation, transposed, output_padding, groups
):
    settings = (weight_shape, stride, padding, dilation, transposed, output_padding, groups)
    found = 0
    if grad_t is not None:
        found = weight_backward(grad_t, input, *settings)
    return found if input_t is None else found + weight_backward(grad, input_t, *settings)


def slope_of_grad(grads, input, stride, padding, dilation, transposed, output_padding, groups):
    """The weight's gradient is linear in the result's: its transpose is the convolution."""
    return convolution(input, grads[0], None, stride, padding, dilation, transposed, output_padding, groups)


def slope_of_input(grads, grad, input_shape, stride, padding, dilation, transposed, output_padding, groups):
    settings = (stride, padding, dilation, transposed, output_padding, groups)
    return input_slope(grad, grads[0], input_shape, *settings)


@operator(
    "_convolution_backward_weight",
    spaces=(),
    out=False,
    fake=fake_weight_backward,
    jvp=weight_backward_tangent,
    vjp={"grad": slope_of_grad, "input": slope_of_input},
    format_of=("grad", "input"),
)
def weight_backward(grad, input, weight_shape, stride, padding, dilation, transposed, output_padding, groups):
    """The gradient of a convolution's weight from that of its result."""
    geometry = Geometry(weight_shape[2:], stride, padding, dilation)
    dtype = input.dtype
    grad, input = (widened(input), widened(grad)) if transposed else (widened(grad), widened(input))
    return kernels.weight_gradient(grad, input, weight_shape, geometry, groups).astype(dtype, copy=False)


# ---- conv1d to conv3d ---


def convolved(name, count, input, weight, bias, stride, padding, dilation, groups):
    """A convolution of `count` dimensions of space, of a batch or of one sample."""
    require_tensors(name, input, weight)
    stride, dilation = per_dimension(stride, count, "stride"), per_dimension(dilation, count, "dilation")
    if isinstance(padding, str):
        input, padding = named_padding(input, weight, stride, padding, dilation)
    else:
        padding = per_dimension(padding, count, "padding")
    return batchwise(name, count, input, weight, bias, stride, padding, dilation, False, (0,) * count, groups)


def batchwise(
    name, count, input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
):
    ndim = len(input._shape)
    if ndim not in (count + 1, count + 2):
        raise RuntimeError(
            f"Expected {count + 1}D (unbatched) or {count + 2}D (batched) input to {name}, but got input "
            f"of size: {list(input._shape)}"
        )
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if len(weight._shape) != count + 2:
        check_weight_rank(len(weight._shape) - 2, stride, padding, dilation)
    is_batch = ndim == count + 2
    batch = input if is_batch else input.unsqueeze(0)
    found = convolution(batch, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    return found if is_batch else found.squeeze(0)


def check_weight_rank(count, stride, padding, dilation):
    """A weight of other dimensions: the settings do not fit it."""
    if count <= 0:
        raise RuntimeError("weight should have at least three dimensions")
    for values, name in ((stride, "stride"), (padding, "padding"), (dilation, "dilation")):
        per_dimension(values, count, name)


def named_padding(input, weight, stride, padding, dilation):
    """(input, padding) for "valid" and "same"; an uneven padding has its extra zero at the end."""
    if padding == "valid":
        return input, (0,) * len(stride)
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any([s != 1 for s in stride]):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for k, d in zip(weight._shape[2:], dilation)]
    if any([t % 2 for t in total]):
        warn_once("same padding", "Using padding='same' with even kernel lengths and odd dilation may require "
                  "a zero-padded copy of the input be created")
        extra = [n for t in reversed(total) for n in (0, t % 2)]
        input = exports["nn.functional"]["pad"](input, extra)
    return input, tuple([t // 2 for t in total])


def require_tensors(name, input, weight):
    if isinstance(input, Tensor) and isinstance(weight, Tensor):
        return
    shown = ", ".join("Tensor" if isinstance(t, Tensor) else type(t).__name__ for t in (input, weight))
    raise TypeError(
        f"{name}() received an invalid combination of arguments - got ({shown}), but expected one of:\n"
        " * (Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, tuple of ints "
        "padding = 0, tuple of ints dilation = 1, int groups = 1)\n"
    )


SPACES = ("", "nn.functional")


@composite("conv1d", spaces=SPACES)
def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolution over a line: input (N, C, L) or (C, L), weight (out_channels, C / groups, k). `padding` may
    be a number of zeros, "valid" or "same"."""
    return convolved("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@composite("conv2d", spaces=SPACES)
def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolution over an image: input (N, C, H, W) or (C, H, W), weight (out_channels, C / groups, kh, kw)."""
    return convolved("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@composite("conv3d", spaces=SPACES)
def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolution over a volume: input (N, C, D, H, W) or (C, D, H, W), weight (out_channels, C / groups, kd,
    kh, kw)."""
    return convolved("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def convolved_transposed(name, count, input, weight, bias, stride, padding, output_padding, groups, dilation):
    """A transposed convolution of `count` dimensions of space, of a batch or of one sample."""
    require_tensors(name, input, weight)
    if isinstance(padding, str):
        raise TypeError(f"{name}(): argument 'padding' must be tuple of ints, not str")
    named = (
        ("stride", stride),
        ("padding", padding),
        ("dilation", dilation),
        ("output_padding", output_padding),
    )
    stride, padding, dilation, output_padding = [
        per_dimension(value, count, setting) for setting, value in named
    ]
    return batchwise(
        name, count, input, weight, bias, stride, padding, dilation, True, output_padding, groups
    )


@composite("conv_transpose1d", spaces=SPACES)
def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of conv1d: input (N, C, L) or (C, L), weight (C, out_channels / groups, k)."""
    return convolved_transposed(
        "conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@composite("conv_transpose2d", spaces=SPACES)
def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of conv2d: input (N, C, H, W) or (C, H, W), weight (C, out_channels / groups, kh, kw)."""
    return convolved_transposed(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@composite("conv_transpose3d", spaces=SPACES)
def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of conv3d: input (N, C, D, H, W) or (C, D, H, W), weight (C, out_channels / groups, kd, kh, kw)."""
    return convolved_transposed(
        "conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


# ---- unfold and fold ---


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


def conv_tbc(input, weight, bias, pad=0):
    """conv1d of (time, batch, channels); weight: (kernel width, in channels, out channels), bias: (out channels,)."""
    if input.dim() != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.dim() != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if bias.dim() != 1:
        raise RuntimeError("Bias must be 1-D")
    if input.size(2) != weight.size(1):
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight.size(2) != bias.size(0):
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    found = conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return found.permute(2, 0, 1).contiguous()


publish("conv_tbc", conv_tbc, ("", "nn.functional"))
