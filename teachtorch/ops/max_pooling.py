"""The maxima of windows."""
from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..kernels import pooling as kernels
from ..kernels.pointwise import silently
from ..kernels.pooling import Window
from .declare import operator
from .fake import Fake, require_tensor
from .node_names import capital_dimensions
from .pooling_arguments import (as_ints, gathered, planes, pooled_shape, refuse_dtype, spell,
                                window_of)


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
        window, shape = checked(self.shape, dt.from_numpy(self.dtype), kernel_size, stride, padding, dilation,
                                ceil_mode)
        values, indices = silently(kernels.max_windows, planes(self, count), window)
        return values.reshape(shape), indices.reshape(shape)

    forward.__doc__ = f"The maximum of each window over {count} dimensions, and where in its plane it is."
    pool = operator(f"{name}_with_indices", spaces=(), out=False, outputs=("result0", "result1"), fake=fake,
                    format_of=("self",), jvp=lambda self_t, result1: (gathered(self_t, result1, count), None),
                    vjp={"self": lambda grads, self, result1: back(grads[0], self, result1)})(forward)
    back = declare_max_backward(f"{name}_with_indices_backward", count)
    capital_dimensions(f"{name}_with_indices")
    return pool


def declare_max_backward(name, count):
    """Declare the operator that gives the gradients back to where the maxima were."""

    def backward(grad_output, self, indices):
        found = kernels.scattered(planes(grad_output, count), planes(indices, count), self.shape[-count:])
        return found.reshape(self.shape)

    backward.__doc__ = "The gradient of max pooling's input."
    back = operator(name, spaces=(), out=False, format_of=("self",),
                    fake=lambda grad_output, self, indices: Fake(self._shape, grad_output._dtype),
                    vjp={"grad_output": lambda grad, indices: gathered(grad, indices, count),
                         "self": lambda grad, self_shape: grad.new_zeros(self_shape)},
                    jvp=lambda grad_output_t, self, indices: (
                        None if grad_output_t is None else back(grad_output_t, self, indices)))(backward)
    return back


with_indices = {count: declare_max_pool(count) for count in (2, 3)}
MAX_DOC = (
    "The maximum of each window over {} dimensions of a batch or one sample. `padding`: with -inf; `ceil_mode`: "
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
        ("stride", kernel_size if stride in (None, (), []) else stride),
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
    spell(with_indices_, f"{name}_with_indices", MAX_DOC.format(count),
          ("nn.functional", "") if count == 1 else ("nn.functional",))


for _count in (1, 2, 3):
    publish_max_pool(_count)
