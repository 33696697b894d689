"""Adaptive pools: the size of the result is given, and each of its elements is made of a bin of the input."""
from ..core import dtype as dt
from ..core import geometry
from ..core.layout import contiguous_format, suggested
from ..kernels import pooling as kernels
from ..tensor import stride_of
from .declare import LINEAR, exports, operator, publish
from .fake import Fake
from .max_pooling import declare_max_backward
from .node_names import capital_dimensions
from .pooling_arguments import (as_ints, check_line_rank, check_not_empty, gathered, one_int, planes,
                                refuse_dtype, spell)
from .reduction_arrays import widened


# ---- averages

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


def adaptive_means(array, sizes, count):
    """The array of the means of its bins, `sizes` of them along each dimension of space."""
    wide = planes(widened(array), count)
    matrices = [kernels.averaging_matrix(n, m, wide.dtype) for n, m in zip(array.shape[-count:], sizes)]
    found = kernels.by_dimension(wide, matrices).reshape(*array.shape[:-count], *sizes)
    return found.astype(array.dtype, copy=False)


def shares_of_bins(grad, like, count):
    """The array of the gradient of `like`: each mean's gradient, divided among the elements of its bin."""
    wide = planes(widened(grad), count)
    sizes = zip(like.shape[-count:], grad.shape[-count:])
    matrices = [kernels.averaging_matrix(n, m, wide.dtype).T for n, m in sizes]
    return kernels.by_dimension(wide, matrices).reshape(like.shape).astype(grad.dtype, copy=False)


def checked_by(shape_of, name, count):
    """A function of (shape, dtype, output_size): the result's shape, the arguments being ones that PyTorch takes."""
    def checked(shape, dtype, output_size):
        found = shape_of(name, shape, output_size, count)
        refuse_dtype(dtype, name if count == 2 else f"{name}_cpu", False)
        return found
    return checked


def declare_adaptive_average(count):
    """Declare _adaptive_avg_pool{count}d and its backward; return the operator's function."""
    name = f"adaptive_avg_pool{count}d"

    checked = checked_by(adaptive_shape, name, count)

    def forward(self, output_size):
        checked(self.shape, dt.from_numpy(self.dtype), output_size)
        return adaptive_means(self, output_size, count)

    forward.__doc__ = f"The mean of each of `output_size` bins of {count} dimensions."
    pool = operator("_" + name, spaces=(), out=False, jvp=LINEAR, vjp={"self": lambda grad, self: back(grad, self)},
                    fake=lambda self, output_size: Fake(checked(self._shape, self._dtype, output_size), self._dtype),
                    format_of=("self",) if count == 2 else ())(forward)
    back = declare_adaptive_average_backward(name, count, pool)
    capital_dimensions("_" + name)
    return pool


def declare_adaptive_average_backward(name, count, pool):
    """Declare the backward of the adaptive average pool `name`, whose function is `pool`."""
    def backward(grad_output, self):
        return shares_of_bins(grad_output, self, count)

    backward.__doc__ = f"The gradient of `{name}`'s input."
    back = operator(f"_{name}_backward", spaces=(), out=False,
                    fake=lambda grad_output, self: Fake(self._shape, grad_output._dtype),
                    jvp=lambda grad_output_t, self: None if grad_output_t is None else back(grad_output_t, self),
                    vjp={"grad_output": lambda grad, grad_output_shape: pool(grad, grad_output_shape[-count:])}
                    )(backward)
    return back


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


# ---- adaptive maxima

def adaptive_max_shape(name, shape, output_size, count):
    """The result's shape. RuntimeError where there is none."""
    if len(output_size) != count:
        raise RuntimeError(f"{name}(): internal error: output_size.size() must be {count}")
    if len(shape) not in (count + 1, count + 2):
        raise RuntimeError(f"{name}(): Expected {count + 1}D or {count + 2}D tensor, but got: {list(shape)}")
    check_not_empty(name, shape, count)
    found = (*shape[:-count], *output_size)
    if min(output_size) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(output_size)}: {list(found)}")
    return found


def declare_adaptive_max(count):
    """Declare adaptive_max_pool{count}d and its backward; return the operator's function."""
    name = f"adaptive_max_pool{count}d"

    checked = checked_by(adaptive_max_shape, name, count)

    def fake(self, output_size):
        shape = checked(self._shape, self._dtype, output_size)
        return Fake(shape, self._dtype), Fake(shape, dt.int64)

    def forward(self, output_size):
        shape = checked(self.shape, dt.from_numpy(self.dtype), output_size)
        bins = [kernels.bins_of(n, m) for n, m in zip(self.shape[-count:], output_size)]
        values, indices = kernels.max_bins(planes(self, count), bins)
        return values.reshape(shape), indices.reshape(shape)

    forward.__doc__ = f"The maximum of each of `output_size` bins of {count} dimensions, and where it is."
    pool = operator(name, spaces=(), out=False, outputs=("result0", "result1"), fake=fake,
                    format_of=("self",) if count == 2 else (),
                    jvp=lambda self_t, result1: (gathered(self_t, result1, count), None),
                    vjp={"self": lambda grads, self, result1: back(grads[0], self, result1)})(forward)
    back = declare_max_backward(f"{name}_backward", count)
    capital_dimensions(name)
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
