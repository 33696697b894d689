"""Windows over space: convolutions as products with columns, pools."""

from ...core import geometry
from ...kernels.columns import Geometry, lifted
from ..pooling_arguments import window_of
from .launching import FLOATS, are_floats, dense_kernel_for, viewed
from .products import product

COLUMN_BYTES = 1 << 28  # of columns at a time: a batch that needs more is convolved in parts


def three(sizes):
    """Three sizes from one to three."""
    return lifted(tuple(sizes), 1)


class Slide:
    """How a kernel slides over a space, with all sizes in three dimensions, as kernels/cuda/windows.py wants them."""

    def __init__(self, space, how):
        self.space, self.places = tuple(space), how.places(space)
        self.settings = (
            three(space), three(self.places), three(how.kernel), three(how.stride), lifted(how.padding, 0),
            three(how.dilation),
        )  # fmt: skip
        self.taps, self.count = geometry.numel(how.kernel), geometry.numel(self.places)


# ---- columns -----------------------------------------------------------------------------------------------


def to_columns(launch, columns, t, planes, slide):
    from ...kernels.cuda import windows

    target, source = launch.flat(columns), launch.flat(t)
    launch.enqueue(lambda stream: windows.to_columns(target, source, planes, *slide.settings, stream))


def from_columns(launch, t, columns, planes, slide):
    from ...kernels.cuda import windows

    target, source = launch.flat(t), launch.flat(columns)
    launch.enqueue(lambda stream: windows.from_columns(target, source, planes, *slide.settings, stream))


@dense_kernel_for("im2col")
def im2col(launch, outputs, args):
    t, kernel, dilation, padding, stride = args
    if t._dtype not in FLOATS:
        return False
    slide = Slide(t._shape[-2:], Geometry(kernel, stride, padding, dilation))
    to_columns(launch, outputs[0], launch.contiguous(t), geometry.numel(t._shape[:-2]), slide)


@dense_kernel_for("col2im")
def col2im(launch, outputs, args):
    t, size, kernel, dilation, padding, stride = args
    if t._dtype not in FLOATS:
        return False
    slide = Slide(size, Geometry(kernel, stride, padding, dilation))
    out = outputs[0]
    from_columns(launch, out, launch.contiguous(t), geometry.numel(out._shape[:-2]), slide)


# ---- convolutions ------------------------------------------------------------------------------------------


def matrices(t, images, groups, group, rows):
    """A contiguous (images, groups * rows, ...) as the matrices (images, rows, places) of one group."""
    places = t.numel() // max(t._shape[0] * groups * rows, 1)
    return viewed(t, (images, rows, places), (groups * rows * places, places, 1), t._offset + group * rows * places)


def weight_of(weight, groups, group, images, is_transposed=False):
    """The weight of one group as a matrix (rows, columns), the same for all images."""
    rows, columns = weight._shape[0] // groups, geometry.numel(weight._shape[1:])
    offset = weight._offset + group * rows * columns
    if is_transposed:
        return viewed(weight, (images, columns, rows), (0, 1, columns), offset)
    return viewed(weight, (images, rows, columns), (0, columns, 1), offset)


def parts_of(images, bytes_each):
    """(first image, number of images) of the parts of a batch."""
    step = max(1, COLUMN_BYTES // max(bytes_each, 1))
    return [(first, min(step, images - first)) for first in range(0, images, step)]


def images_of(t, first, count):
    return viewed(t, (count, *t._shape[1:]), t._stride, t._offset + first * t._stride[0])


@dense_kernel_for("convolution")
def convolution(launch, outputs, args):
    t, weight, bias, stride, padding, dilation, transposed, _, groups = args
    out = outputs[0]
    if not are_floats(t, weight, bias) or not out.numel() or not weight.numel() or not t.numel():
        return False
    how = Geometry(weight._shape[2:], stride, padding, dilation)
    convolve = convolve_transposed if transposed else convolve_plain
    t, weight = launch.contiguous(t), launch.contiguous(weight)
    slide = Slide((out if transposed else t)._shape[2:], how)
    channels = (out if transposed else t)._shape[1]
    for first, count in parts_of(t._shape[0], channels * slide.taps * slide.count * t._dtype.itemsize):
        parts = images_of(out, first, count), images_of(t, first, count)
        columns = launch.empty((count, channels * slide.taps, slide.count), t._dtype)
        convolve(launch, *parts, weight, columns, slide, groups)
    if bias is not None:
        places = viewed(bias, (*bias._shape, *[1] * len(stride)), (*bias._stride, *[0] * len(stride)))
        launch.compute(added, out, [out, places], out._dtype)


def added(x, y):
    return x + y


def convolve_plain(launch, out, t, weight, columns, slide, groups):
    """out = weight @ columns, for each group of channels."""
    count = out._shape[0]
    to_columns(launch, columns, t, count * t._shape[1], slide)
    for group in range(groups):
        left = weight_of(weight, groups, group, count)
        right = matrices(columns, count, groups, group, left._shape[2])
        product(launch, matrices(out, count, groups, group, left._shape[1]), left, right)


def convolve_transposed(launch, out, t, weight, columns, slide, groups):
    """columns = transposed weight @ t, which are then added up in `out`."""
    count = out._shape[0]
    for group in range(groups):
        left = weight_of(weight, groups, group, count, is_transposed=True)
        right = matrices(t, count, groups, group, left._shape[2])
        product(launch, matrices(columns, count, groups, group, left._shape[1]), left, right)
    from_columns(launch, out, columns, count * out._shape[1], slide)


@dense_kernel_for("_convolution_backward_weight")
def weight_backward(launch, outputs, args):
    """For each group grad @ transposed columns, summed over images: products of (rows, images * places)."""
    grad, t, shape, stride, padding, dilation, transposed, _, groups = args
    out = outputs[0]
    if transposed:
        grad, t = t, grad
    if not are_floats(t, grad) or not grad.numel() or not t.numel():
        return False
    grad, t = launch.contiguous(grad), launch.contiguous(t)
    slide = Slide(t._shape[2:], Geometry(shape[2:], stride, padding, dilation))
    channels = t._shape[1]
    launch.fill(out, 0)
    for first, count in parts_of(t._shape[0], channels * slide.taps * slide.count * t._dtype.itemsize):
        columns = launch.empty((count, channels * slide.taps, slide.count), t._dtype)
        to_columns(launch, columns, images_of(t, first, count), count * channels, slide)
        add_weight_slopes(launch, out, images_of(grad, first, count), columns, groups)


def add_weight_slopes(launch, out, grad, columns, groups):
    count = grad._shape[0]
    rows, depth = out._shape[0] // groups, geometry.numel(out._shape[1:])
    for group in range(groups):
        left = images_last(launch, matrices(grad, count, groups, group, rows))
        right = images_last(launch, matrices(columns, count, groups, group, depth))
        found = launch.empty((rows, depth), out._dtype)
        product(launch, found, left, viewed(right, right._shape[::-1], right._stride[::-1]))
        target = viewed(out, (rows, depth), (depth, 1), out._offset + group * rows * depth)
        launch.compute(added, target, [target, found], out._dtype)


def images_last(launch, t):
    """(images, rows, places) as (rows, images * places)."""
    images, rows, places = t._shape
    new = launch.empty((rows, images, places), t._dtype)
    launch.copy(new, viewed(t, *geometry.permute(t._shape, t._stride, t._offset, (1, 0, 2))))
    return viewed(new, (rows, images * places), (images * places, 1))


# ---- pools -------------------------------------------------------------------------------------------------


def pool_sizes(t, count, window, places):
    """(planes, space, places, kernel, stride, padding) for the kernels."""
    planes = geometry.numel(t._shape[:-count])
    numbers = three(window.kernel), three(window.stride), lifted(window.padding, 0)
    return planes, three(t._shape[-count:]), three(places), *numbers


def average_of(count, t, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor):
    """(window, what a sum is divided by) of an average pool's arguments."""
    window = window_of(f"avg_pool{count}d", count, kernel_size, stride, padding, 1, ceil_mode)
    return window, "given" if divisor is not None else "padded" if count_include_pad else "inside"


@dense_kernel_for("avg_pool2d", "avg_pool3d")
def average_pool(launch, outputs, args):
    from ...kernels.cuda import windows

    t, kernel, stride, padding, ceil_mode, include, divisor = (*args, *(None, 0, False, True, None)[len(args) - 2 :])
    count, out = int(launch.op.name[-2]), outputs[0]
    if t._dtype not in FLOATS:
        return False
    window, counted = average_of(count, t, kernel, stride, padding, ceil_mode, include, divisor)
    sizes = pool_sizes(t, count, window, out._shape[-count:])
    target, source = launch.flat(out), launch.flat(launch.contiguous(t))
    launch.enqueue(lambda stream: windows.average(target, source, *sizes, counted, divisor, stream))


@dense_kernel_for("avg_pool2d_backward", "avg_pool3d_backward")
def average_pool_backward(launch, outputs, args):
    from ...kernels.cuda import windows

    grad, t, kernel, stride, padding, ceil_mode, include, divisor = args
    count, out = int(launch.op.name[-11]), outputs[0]
    if not are_floats(t, grad):
        return False
    window, counted = average_of(count, t, kernel, stride, padding, ceil_mode, include, divisor)
    sizes = pool_sizes(t, count, window, grad._shape[-count:])
    target, source = launch.flat(out), launch.flat(launch.contiguous(grad))
    launch.enqueue(lambda stream: windows.spread(target, source, *sizes, counted, divisor, stream))


@dense_kernel_for("max_pool2d_with_indices", "max_pool3d_with_indices")
def max_pool(launch, outputs, args):
    from ...kernels.cuda import windows

    t, kernel, stride, padding, dilation, ceil_mode = (*args, *((), 0, 1, False)[len(args) - 2 :])
    count = int(launch.op.name[8])
    if t._dtype not in FLOATS:
        return False
    window = window_of(f"max_pool{count}d", count, kernel, stride, padding, dilation, ceil_mode)
    sizes = pool_sizes(t, count, window, outputs[0]._shape[-count:])
    arrays = [launch.flat(each) for each in (*outputs, launch.contiguous(t))]
    steps = three(window.dilation)
    launch.enqueue(lambda stream: windows.maximum(*arrays, *sizes, steps, stream))


@dense_kernel_for(
    "max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward", "max_unpool2d", "max_unpool3d"
)
def max_pool_backward(launch, outputs, args):
    """Each plane is a row: what belongs to an index is added there (of unpooling, written there)."""
    from .picking import along

    is_unpool = launch.op.name.startswith("max_unpool")
    grad, indices = (args[0], args[1]) if is_unpool else (args[0], args[2])
    count, out = int(launch.op.name.split("pool")[1][0]), outputs[0]
    if out._dtype not in FLOATS or grad._dtype is not out._dtype:
        return False
    launch.fill(out, 0)
    planes = geometry.numel(out._shape[:-count])
    same, index, target = [
        viewed(each, (planes, each.numel() // max(planes, 1)), (each.numel() // max(planes, 1), 1))
        for each in (launch.contiguous(grad), launch.contiguous(indices), out)
    ]
    along(launch, "scatter" if is_unpool else "scatter_add", index, same, target, 1)


@dense_kernel_for("_adaptive_avg_pool2d", "_adaptive_avg_pool3d")
def adaptive_average(launch, outputs, args):
    return adaptive(launch, "adaptive_average", outputs[0], args[0], args[0], outputs[0])


@dense_kernel_for("_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward")
def adaptive_average_backward(launch, outputs, args):
    grad, t = args
    return adaptive(launch, "adaptive_spread", outputs[0], grad, t, grad)


def adaptive(launch, name, out, source, fine, coarse):
    from ...kernels.cuda import windows

    count = int(launch.op.name.removesuffix("_backward")[-2])
    if not are_floats(out, source):
        return False
    planes = geometry.numel(fine._shape[:-count])
    sizes = planes, three(fine._shape[-count:]), three(coarse._shape[-count:])
    target, array = launch.flat(out), launch.flat(launch.contiguous(source))
    launch.enqueue(lambda stream: getattr(windows, name)(target, array, *sizes, stream))
