"""Pooling: maxima and averages of windows, with adaptive windows, and the inverse of max pooling.

PyTorch's one-dimensional pools are two-dimensional ones of height 1, and so are these.
"""

import math

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..core.layout import contiguous_format, suggested
from ..dispatch.operator import registry
from ..kernels import pooling as kernels
from ..kernels.pooling import Window
from ..kernels.pointwise import silently
from ..tensor import Tensor, stride_of
from .declare import LINEAR, exports, operator, publish
from .fake import Fake, require_tensor
from .reduction import widened

COUNTED = {1: "one int", 2: "two ints", 3: "three ints"}
LETTERS = {2: ("H", "W"), 3: ("T", "H", "W")}


# ---- arguments ---


def as_ints(value, function, argument, position):
    """An int or a sequence of ints, as a tuple. TypeError for anything else."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if all([isinstance(v, (int, np.integer)) for v in values]):
        return values
    raise TypeError(
        f"{function}(): argument '{argument}' (position {position}) must be tuple of ints, not "
        f"{type(value).__name__}"
    )


def sized(values, count, function, argument, omitted=""):
    """One int per dimension. RuntimeError for another number of them."""
    if len(values) == 1:
        return values * count
    if len(values) != count:
        raise RuntimeError(
            f"{function}: {argument} must either be {omitted}a single int, or a tuple of {COUNTED[count]}"
        )
    return values


def window_of(function, count, kernel_size, stride, padding, dilation=1, ceil_mode=False):
    """The Window of a pool's arguments."""
    kernel = sized(as_ints(kernel_size, function, "kernel_size", 2), count, function, "kernel_size")
    stride = () if stride is None else as_ints(stride, function, "stride", 3)
    stride = sized(stride, count, function, "stride", "omitted, ") if stride else kernel
    padding = sized(as_ints(padding, function, "padding", 4), count, function, "padding")
    dilation = sized(as_ints(dilation, function, "dilation", 5), count, function, "dilation")
    return Window(kernel, stride, padding, dilation, ceil_mode)


def per_axis(prefix, values):
    return " ".join(f"{prefix}{letter}: {value}" for letter, value in zip(LETTERS[len(values)], values))


def check_window(window):
    """PyTorch's refusals (aten/src/ATen/native/Pool.h, pool2d_shape_check)."""
    if 0 in window.stride:
        raise RuntimeError("stride should not be zero")
    for k, p, d in zip(window.kernel, window.padding, window.dilation):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if k > 0 and d > 0 and p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} "
                f"and dilation={d}"
            )
    for values, name, short in (
        (window.kernel, "kernel size", "k"),
        (window.stride, "stride", "d"),
        (window.dilation, "dilation", "dilation"),
    ):
        if min(values) <= 0:
            raise RuntimeError(f"{name} should be greater than zero, but got {per_axis(short, values)}")


def pooled_shape(shape, window, count, rank_first=False):
    """The result's shape. RuntimeError where the window does not fit."""
    check_rank(shape, count, rank_first)
    check_window(window)
    check_rank(shape, count, True)
    if 0 in shape[-count - 1 :]:
        raise RuntimeError(
            f"Expected {count + 1}D or {count + 2}D (batch mode) tensor with optional 0 dim batch size "
            f"for input, but got:{list(shape)}"
        )
    places = window.places(shape[-count:])
    if min(places) < 1:
        given, found = ("x".join(map(str, (shape[-count - 1], *space))) for space in (shape[-count:], places))
        raise RuntimeError(
            f"Given input size: ({given}). Calculated output size: ({found}). Output size is too small"
        )
    return tuple(shape[:-count]) + places


def check_rank(shape, count, is_checked):
    if is_checked and len(shape) not in (count + 1, count + 2):
        raise RuntimeError(f"non-empty {count + 1}D or {count + 2}D (batch mode) tensor expected for input")


def planes(array, count):
    """The array with all dimensions before space as one."""
    return (
        array.reshape(-1, *array.shape[-count:])
        if array.size
        else array.reshape(math.prod(array.shape[:-count]), *array.shape[-count:])
    )


def refuse_dtype(dtype, kernel, allowed):
    if dtype.is_floating_point or allowed and dtype is not dt.bool:
        return
    raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type_name(dtype)}'")


def name_node(name):
    """PyTorch spells dimensions in its nodes' names with a large D."""
    node = registry[name].info.derivatives.node_class
    node.__name__ = node.__name__.replace("1d", "1D").replace("2d", "2D").replace("3d", "3D")


def gathered(values, indices, count):
    """From each plane of `values` the elements at the plane's indices."""
    flat, places = values.flatten(-count), indices.flatten(-count)
    return flat.gather(-1, places).view(indices._shape)


# ---- maxima ---


def declare_max_pool(count):
    """Declare max_pool{count}d_with_indices and its backward; return the operator's function."""
    name = f"max_pool{count}d"

    def checked(shape, dtype, kernel_size, stride, padding, dilation, ceil_mode):
        window = window_of(name, count, kernel_size, stride, padding, dilation, ceil_mode)
        found = pooled_shape(shape, window, count)
        refuse_dtype(dtype, name, True)
        return window, found

    def fake(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        _, shape = checked(self._shape, self._dtype, kernel_size, stride, padding, dilation, ceil_mode)
        return Fake(shape, self._dtype), Fake(shape, dt.int64)

    def forward(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        window, shape = checked(
            self.shape, dt.from_numpy(self.dtype), kernel_size, stride, padding, dilation, ceil_mode
        )
        values, indices = silently(kernels.max_windows, planes(self, count), window)
        return values.reshape(shape), indices.reshape(shape)

    forward.__doc__ = f"The maximum of each window over {count} dimensions, and where in its plane it is."
    pool = operator(
        f"{name}_with_indices",
        spaces=(),
        out=False,
        outputs=("result0", "result1"),
        format_of=("self",),
        fake=fake,
        jvp=lambda self_t, result1: (gathered(self_t, result1, count), None),
        vjp={"self": lambda grads, self, result1: back(grads[0], self, result1)},
    )(forward)
    back = declare_max_backward(f"{name}_with_indices_backward", count)
    name_node(f"{name}_with_indices")
    return pool


def declare_max_backward(name, count):
    """Declare the operator that gives the gradients back to where the maxima were."""

    def backward(grad_output, self, indices):
        found = kernels.scattered(planes(grad_output, count), planes(indices, count), self.shape[-count:])
        return found.reshape(self.shape)

    backward.__doc__ = "The gradient of max pooling's input."
    return operator(
        name,
        spaces=(),
        out=False,
        format_of=("self",),
        fake=lambda grad_output, self, indices: Fake(self._shape, grad_output._dtype),
        vjp={"grad_output": lambda grad, indices: gathered(grad, indices, count)},
        jvp=lambda grad_output_t, self, indices: (
            None if grad_output_t is None else registry[name].call(grad_output_t, self, indices)
        ),
    )(backward)


with_indices = {count: declare_max_pool(count) for count in (2, 3)}
MAX_DOC = (
    "The maximum of each window over {} dimensions of a batch or one sample. `padding`: with -inf; "
    "`ceil_mode`: "
    "also windows that hang over; `return_indices`: also where in its plane each maximum is."
)


def max_pool(count, input, kernel_size, stride, padding, dilation, ceil_mode):
    require_tensor(input, f"max_pool{count}d", "input")
    if count > 1:
        return with_indices[count](
            input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode
        )
    window = line_window(input, kernel_size, stride, padding, dilation)
    found = with_indices[2](
        input.unsqueeze(-2),
        (1, *window.kernel),
        (1, *window.stride),
        (0, *window.padding),
        (1, *window.dilation),
        ceil_mode,
    )
    return found[0].squeeze(-2), found[1].squeeze(-2)


def line_window(input, kernel_size, stride, padding, dilation):
    """max_pool1d's own refusals (aten/src/ATen/native/MaxPooling.cpp)."""
    if len(input._shape) not in (2, 3):
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(input._shape)}"
        )
    named = (
        ("kernel_size", kernel_size),
        ("stride", kernel_size if stride is None else stride),
        ("padding", padding),
        ("dilation", dilation),
    )
    values = [as_ints(value, "max_pool1d", name, 2) for name, value in named]
    for (name, _), value in zip(named, values):
        if len(value) != 1:
            raise RuntimeError(
                f"max_pool1d() {name} must be an int, list of ints or tuple of ints of size 1 but got "
                f"size {len(value)}"
            )
    check_line(*[v[0] for v in values], input._shape[-1])
    if not input._dtype.is_floating_point:
        raise NotImplementedError(
            f"\"max_pool1d_impl\" not implemented for '{scalar_type_name(input._dtype)}'"
        )
    return Window(*values, False)


def check_line(kernel, stride, padding, dilation, size):
    if kernel <= 0:
        raise RuntimeError(f"max_pool1d() kernel_size must be greater than zero, but got {kernel}")
    if stride <= 0:
        raise RuntimeError(f"max_pool1d() stride must be greater than zero, but got {stride}")
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, but got "
            f"padding={padding} and kernel_size={kernel}"
        )
    if dilation <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {dilation}")
    found = kernels.places(size, kernel, stride, padding, dilation, False)
    if found <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {found}")


def publish_max_pool(count):
    name = f"max_pool{count}d"

    def pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
        return max_pool(count, input, kernel_size, stride, padding, dilation, ceil_mode)[0]

    def with_indices_(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
        return tuple(max_pool(count, input, kernel_size, stride, padding, dilation, ceil_mode))

    def functional(
        input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
    ):
        found = max_pool(count, input, kernel_size, stride, padding, dilation, ceil_mode)
        return tuple(found) if return_indices else found[0]

    spell(pool, name, MAX_DOC.format(count), ("",))
    spell(functional, name, MAX_DOC.format(count), ("nn.functional",))
    spell(
        with_indices_,
        f"{name}_with_indices",
        MAX_DOC.format(count),
        ("nn.functional",) + (("",) if count == 1 else ()),
    )


def spell(function, name, doc, spaces):
    """Publish a function under a name."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    publish(name, function, spaces)


for _count in (1, 2, 3):
    publish_max_pool(_count)


# ---- the inverse of max pooling ---


def check_unpool(shape, dtype, indices_shape, indices_dtype, output_size, count):
    if indices_dtype is not dt.int64:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {scalar_type_name(indices_dtype)}"
        )
    if len(output_size) != count:
        raise RuntimeError(
            f"There should be exactly {('two', 'three')[count - 2]} elements "
            f"({', '.join(('depth', 'height', 'width')[-count:])}) in output_size, but got "
            f"{len(output_size)} elements."
        )
    if len(shape) not in (count + 1, count + 2):
        raise RuntimeError(
            f"Input to max_unpooling{count}d should be a {count + 1}d or {count + 2}d Tensor, but got a "
            f"tensor with {len(shape)} dimensions."
        )
    if shape != indices_shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(shape)}) but got indices tensor with shape: {list(indices_shape)}"
        )
    refuse_dtype(dtype, f"max_unpool{count}d", False)


def declare_unpool(count):
    name = f"max_unpool{count}d"

    def fake(self, indices, output_size):
        check_unpool(self._shape, self._dtype, indices._shape, indices._dtype, output_size, count)
        return Fake((*self._shape[:-count], *output_size), self._dtype)

    def forward(self, indices, output_size):
        check_unpool(
            self.shape,
            dt.from_numpy(self.dtype),
            indices.shape,
            dt.from_numpy(indices.dtype),
            output_size,
            count,
        )
        return unpooled(planes(self, count), planes(indices, count), tuple(output_size)).reshape(
            *self.shape[:-count], *output_size
        )

    forward.__doc__ = "Zeros of `output_size`, with the input's elements at their indices."
    operator(
        name,
        spaces=(),
        out=False,
        format_of=("self",) if count == 2 else (),
        fake=fake,
        jvp=lambda self_t, indices, output_size: registry[name].call(self_t, indices, output_size),
        vjp={"self": lambda grad, indices: gathered(grad, indices, count)},
    )(forward)
    name_node(name)


def unpooled(values, indices, space):
    size = math.prod(space)
    outside = (indices < 0) | (indices >= size)
    if outside.any():
        raise RuntimeError(
            f"Found an invalid max index: {indices[outside][0]} (output volumes are of size "
            f"{'x'.join(map(str, space))})"
        )
    found = np.zeros((values.shape[0], size), values.dtype)
    if values.size:
        np.put_along_axis(found, indices.reshape(len(found), -1), values.reshape(len(found), -1), 1)
    return found


for _count in (2, 3):
    declare_unpool(_count)


def unpool_size(input, kernel_size, stride, padding, output_size, count):
    """The space of the result: as large as `output_size` says, which must be near what the pool would
    undo."""
    kernel, stride, padding = [
        (v,) * count if isinstance(v, int) else tuple(v)
        for v in (kernel_size, kernel_size if stride is None or stride == [] else stride, padding)
    ]
    default = [(n - 1) * s + k - 2 * p for n, k, s, p in zip(input._shape[-count:], kernel, stride, padding)]
    if output_size is None:
        return default
    if len(output_size) == count + 2:
        output_size = output_size[2:]
    if len(output_size) != count:
        raise ValueError(
            f"output_size should be a sequence containing {count} or {count + 2} elements, but it has a "
            f"length of '{len(output_size)}'"
        )
    for d, (size, wanted, step) in enumerate(zip(output_size, default, stride)):
        if not wanted - step < size < wanted + step:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {d} must be between {wanted - step} and '
                f"{wanted + step})"
            )
    return list(output_size)


UNPOOL_DOC = (
    "The inverse of max pooling as far as there is one: the maxima at their `indices`, zeros elsewhere."
)


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    size = unpool_size(input, kernel_size, stride, padding, output_size, 1)
    if not isinstance(indices, Tensor):
        raise TypeError("max_unpool1d(): argument 'indices' must be Tensor")
    found = registry["max_unpool2d"].call(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1])
    return found.squeeze(-1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    size = unpool_size(input, kernel_size, stride, padding, output_size, 2)
    return registry["max_unpool2d"].call(input, indices, size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    size = unpool_size(input, kernel_size, stride, padding, output_size, 3)
    return registry["max_unpool3d"].call(input, indices, size)


for _function in (max_unpool1d, max_unpool2d, max_unpool3d):
    spell(_function, _function.__name__, UNPOOL_DOC, ("nn.functional",))


# ---- averages ---

AVERAGE_DOC = (
    "The mean of each window over {} dimensions of a batch or one sample. `count_include_pad`: whether the "
    "zeros of the padding count; `ceil_mode`: also windows that hang over."
)


def declare_avg_pool(count):
    name = f"avg_pool{count}d"

    def checked(shape, kernel_size, stride, padding, ceil_mode, divisor_override):
        window = window_of(name, count, kernel_size, stride, padding, 1, ceil_mode)
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        if count == 2 and len(shape) < 3:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{len(shape)}, {len(shape) - 1}], "
                "but got -3)"
            )
        return window, pooled_shape(shape, window, count, rank_first=count == 3)

    def fake(
        self,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        _, shape = checked(self._shape, kernel_size, stride, padding, ceil_mode, divisor_override)
        refuse_dtype(self._dtype, f"{name}_out_frame", self._dtype is dt.int64)
        return Fake(shape, self._dtype)

    def forward(
        self,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        window, shape = checked(self.shape, kernel_size, stride, padding, ceil_mode, divisor_override)
        refuse_dtype(dt.from_numpy(self.dtype), f"{name}_out_frame", self.dtype == np.int64)
        sizes = divisors(window, self.shape[-count:], shape[-count:], count_include_pad, divisor_override)
        sums = kernels.sum_windows(planes(widened(self), count), window, shape[-count:])
        return divided(sums, sizes, self.dtype).reshape(shape)

    def backward(
        grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    ):
        window, shape = checked(self.shape, kernel_size, stride, padding, ceil_mode, divisor_override)
        sizes = divisors(window, self.shape[-count:], shape[-count:], count_include_pad, divisor_override)
        shares = planes(widened(grad_output), count)
        shares = shares / sizes.astype(shares.dtype)
        found = kernels.spread_windows(shares, window, self.shape[-count:])
        return found.reshape(self.shape).astype(grad_output.dtype, copy=False)

    forward.__doc__ = AVERAGE_DOC.format(count)
    backward.__doc__ = f"The gradient of `{name}`'s input."

    def slope(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        settings = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return back(grad, self, *settings)

    def slope_of_slope(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        return pool(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    def tangent(
        grad_output_t, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    ):
        settings = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return None if grad_output_t is None else back(grad_output_t, self, *settings)

    pool = operator(name, spaces=("nn.functional",), out=False, fake=fake, jvp=LINEAR, vjp={"self": slope},
                    format_of=("self",) if count == 2 else ())(forward)
    back = operator(
        f"{name}_backward",
        spaces=(),
        out=False,
        format_of=("self",) if count == 2 else (),
        fake=lambda grad_output, self, *rest: Fake(self._shape, grad_output._dtype),
        jvp=tangent,
        vjp={"grad_output": slope_of_slope},
    )(backward)
    name_node(name)
    return pool


def divisors(window, space, counts, count_include_pad, divisor_override):
    if divisor_override is not None:
        return np.asarray(divisor_override)
    return kernels.window_sizes(window, space, counts, count_include_pad)


def divided(sums, sizes, dtype):
    if dtype.kind == "i":
        return np.trunc(sums / sizes).astype(dtype)
    return (sums / sizes.astype(sums.dtype)).astype(dtype, copy=False)


avg_pool2d, avg_pool3d = declare_avg_pool(2), declare_avg_pool(3)


def one_int(value, name, argument):
    values = as_ints(value, name, argument, 2)
    if len(values) != 1:
        raise RuntimeError(f"{name}() argument '{argument}' should contain one int (got {len(values)})")
    return values[0]


def check_line_rank(input, name):
    if len(input._shape) not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {len(input._shape)}-dimensional tensor for argument "
            f"#1 'self' (while checking arguments for {name})"
        )


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    check_line_rank(input, "avg_pool1d")
    kernel = one_int(kernel_size, "avg_pool1d", "kernel_size")
    stride = kernel if stride is None or stride == () else one_int(stride, "avg_pool1d", "stride")
    padding = one_int(padding, "avg_pool1d", "padding")
    return avg_pool2d(
        input.unsqueeze(-2), (1, kernel), (1, stride), (0, padding), ceil_mode, count_include_pad
    ).squeeze(-2)


spell(avg_pool1d, "avg_pool1d", AVERAGE_DOC.format(1), ("", "nn.functional"))


# ---- adaptive averages ---


def adaptive_shape(name, shape, output_size, count):
    """The result's shape. RuntimeError where there is none."""
    if len(output_size) != count:
        raise RuntimeError(f"{name}: output_size must be {count}")
    if min(output_size) < 0:
        sizes = ", ".join(map(str, output_size[:2])) + "".join(f",{n}" for n in output_size[2:])
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {{{sizes}}}"
        )
    check_not_empty(name, shape, count)
    if len(shape) not in (count + 1, count + 2):
        raise RuntimeError(f"{name}(): Expected {count + 1}D or {count + 2}D tensor, but got {list(shape)}")
    return (*shape[:-count], *output_size)


def check_not_empty(name, shape, count):
    for dim in range(max(len(shape) - count, 0), len(shape)):
        if shape[dim] == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has "
                f"sizes {list(shape)} with dimension {dim} being empty"
            )


def declare_adaptive_average(count):
    name = f"adaptive_avg_pool{count}d"
    kernel = name if count == 2 else f"{name}_cpu"

    def fake(self, output_size):
        shape = adaptive_shape(name, self._shape, output_size, count)
        refuse_dtype(self._dtype, kernel, False)
        return Fake(shape, self._dtype)

    def forward(self, output_size):
        shape = adaptive_shape(name, self.shape, output_size, count)
        refuse_dtype(dt.from_numpy(self.dtype), kernel, False)
        wide = planes(widened(self), count)
        matrices = [
            kernels.averaging_matrix(n, m, wide.dtype) for n, m in zip(self.shape[-count:], output_size)
        ]
        return kernels.by_dimension(wide, matrices).reshape(shape).astype(self.dtype, copy=False)

    def backward(grad_output, self):
        wide = planes(widened(grad_output), count)
        sizes = zip(self.shape[-count:], grad_output.shape[-count:])
        matrices = [kernels.averaging_matrix(n, m, wide.dtype).T for n, m in sizes]
        return kernels.by_dimension(wide, matrices).reshape(self.shape).astype(grad_output.dtype, copy=False)

    forward.__doc__ = f"The mean of each of `output_size` bins of {count} dimensions."
    backward.__doc__ = f"The gradient of `{name}`'s input."
    pool = operator(
        "_" + name,
        spaces=(),
        out=False,
        format_of=("self",) if count == 2 else (),
        fake=fake,
        jvp=LINEAR,
        vjp={"self": lambda grad, self: back(grad, self)},
    )(forward)
    back = operator(
        f"_{name}_backward",
        spaces=(),
        out=False,
        fake=lambda grad_output, self: Fake(self._shape, grad_output._dtype),
        jvp=lambda grad_output_t, self: None if grad_output_t is None else back(grad_output_t, self),
        vjp={"grad_output": lambda grad, grad_output_shape: pool(grad, grad_output_shape[-count:])},
    )(backward)
    name_node("_" + name)
    return pool


adaptive_average = {count: declare_adaptive_average(count) for count in (2, 3)}
ADAPTIVE_DOC = (
    "The {} of each of `output_size` bins that cover the {} dimensions of space. None in `output_size` keeps "
    "a dimension's size."
)


def output_sizes(input, output_size, count, name):
    """`output_size` as ints: one for all dimensions, None for the input's own size."""
    values = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * count
    if None in values:
        own = input._shape[-len(values) :]
        values = tuple([n if v is None else v for n, v in zip(own, values)])
    return as_ints(values, name, "output_size", 2)


def in_format_of_image(means, image):
    """One value per channel with the strides of channels_last, if the image is: elements of size 1 fit any."""
    if suggested(image._shape, stride_of(image)) is contiguous_format:
        return means
    return means.as_strided_(means._shape, geometry.channels_last_strides(means._shape))


def publish_adaptive_average(count):
    name = f"adaptive_avg_pool{count}d"

    def pool(input, output_size):
        sizes = output_sizes(input, output_size, count, name)
        if sizes == (1,) * count:
            check_not_empty(name, input._shape, count)
            return in_format_of_image(input.mean(tuple(range(-count, 0)), True), input)
        return adaptive_average[count](input, sizes)

    spell(pool, name, ADAPTIVE_DOC.format("mean", count), ("nn.functional",))


publish_adaptive_average(2)
publish_adaptive_average(3)


def adaptive_avg_pool1d(input, output_size):
    size = one_int(output_size, "adaptive_avg_pool1d", "output_size")
    check_line_rank(input, "adaptive_avg_pool1d")
    pool = exports["nn.functional"]["adaptive_avg_pool2d"]
    return pool(input.unsqueeze(-2), (1, size)).squeeze(-2)


spell(adaptive_avg_pool1d, "adaptive_avg_pool1d", ADAPTIVE_DOC.format("mean", 1), ("", "nn.functional"))


# ---- adaptive maxima ---


def declare_adaptive_max(count):
    name = f"adaptive_max_pool{count}d"

    def checked(shape, dtype, output_size):
        if len(output_size) != count:
            raise RuntimeError(f"{name}(): internal error: output_size.size() must be {count}")
        if len(shape) not in (count + 1, count + 2):
            raise RuntimeError(
                f"{name}(): Expected {count + 1}D or {count + 2}D tensor, but got: {list(shape)}"
            )
        check_not_empty(name, shape, count)
        found = (*shape[:-count], *output_size)
        if min(output_size) < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {min(output_size)}: {list(found)}"
            )
        refuse_dtype(dtype, name if count == 2 else f"{name}_cpu", False)
        return found

    def fake(self, output_size):
        shape = checked(self._shape, self._dtype, output_size)
        return Fake(shape, self._dtype), Fake(shape, dt.int64)

    def forward(self, output_size):
        shape = checked(self.shape, dt.from_numpy(self.dtype), output_size)
        bins = [kernels.bins_of(n, m) for n, m in zip(self.shape[-count:], output_size)]
        values, indices = kernels.max_bins(planes(self, count), bins)
        return values.reshape(shape), indices.reshape(shape)

    forward.__doc__ = f"The maximum of each of `output_size` bins of {count} dimensions, and where it is."
    pool = operator(
        name,
        spaces=(),
        out=False,
        outputs=("result0", "result1"),
        format_of=("self",) if count == 2 else (),
        fake=fake,
        jvp=lambda self_t, result1: (gathered(self_t, result1, count), None),
        vjp={"self": lambda grads, self, result1: back(grads[0], self, result1)},
    )(forward)
    back = declare_max_backward(f"{name}_backward", count)
    name_node(name)
    return pool


adaptive_max = {count: declare_adaptive_max(count) for count in (2, 3)}


def adaptive_max_with_indices(input, output_size, count):
    name = f"adaptive_max_pool{count}d"
    if count > 1:
        return tuple(adaptive_max[count](input, output_sizes(input, output_size, count, name)))
    check_line_rank(input, name)
    found = adaptive_max[2](input.unsqueeze(-2), (1, one_int(output_size, name, "output_size")))
    return found[0].squeeze(-2), found[1].squeeze(-2)


def publish_adaptive_max(count):
    name, doc = f"adaptive_max_pool{count}d", ADAPTIVE_DOC.format("maximum", count)

    def functional(input, output_size, return_indices=False):
        found = adaptive_max_with_indices(input, output_size, count)
        return found if return_indices else found[0]

    def both(input, output_size):
        return adaptive_max_with_indices(input, output_size, count)

    spell(functional, name, doc, ("nn.functional",))
    spell(both, f"{name}_with_indices", doc, ("nn.functional",))
    if count == 1:
        publish(name, both, ("",))


for _count in (1, 2, 3):
    publish_adaptive_max(_count)


# ---- power averages ---


def lp_pool(pool, input, norm_type, kernel_size, stride, ceil_mode, count):
    """(sum of x^p)^(1/p) of each window, through the window's mean."""
    sizes = as_ints(kernel_size, f"lp_pool{count}d", "kernel_size", 3)
    mean = pool(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    relu = exports[""]["relu"]
    size = math.prod(sizes) if len(sizes) > 1 else sizes[0] ** count
    return (exports[""]["sign"](mean) * relu(exports[""]["abs"](mean))).mul(size).pow(1.0 / norm_type)


LP_DOC = "(sum of x^norm_type)^(1 / norm_type) of each window over {} dimensions."


def publish_lp_pool(count):
    def functional(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        pool = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}[count]
        return lp_pool(pool, input, norm_type, kernel_size, stride, ceil_mode, count)

    spell(functional, f"lp_pool{count}d", LP_DOC.format(count), ("nn.functional",))


for _count in (1, 2, 3):
    publish_lp_pool(_count)
