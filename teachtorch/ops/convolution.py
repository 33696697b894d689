"""Convolutions and transposed convolutions in one to three dimensions.

A convolution's gradient of its input is a transposed convolution and the other way round, so that
`convolution` and the gradient of its weight are all the operators there are, to any order of differentiation.
"""

import math

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..core.once import warn_once
from ..kernels import convolution as kernels
from ..kernels.columns import Geometry
from ..tensor import Tensor
from .declare import composite, exports, operator, publish
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
    given = f"kernel_height: {height} kernel_width: {width}"
    raise RuntimeError(f"kernel size should be greater than zero, but got {given}")


def check_settings(stride, padding, dilation, output_padding):
    if any([p < 0 for p in padding]):
        raise RuntimeError("negative padding is not supported")
    if any([p < 0 for p in output_padding]):
        raise RuntimeError("negative output_padding is not supported")
    if any([s <= 0 for s in stride]):
        raise RuntimeError("non-positive stride is not supported")
    if any([d <= 0 for d in dilation]):
        # PyTorch's kernels have two or three dimensions, and print as many
        given = [1, *dilation] if len(dilation) == 1 else list(dilation)
        raise RuntimeError("dilation should be greater than zero" + ("" if min(given) < 0 else f", but got {given}"))


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
