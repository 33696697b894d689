"""Along dimensions: folds, extremes, running folds, softmax, and losses that are folded."""

import numpy as np

from ...core import dtype as dt
from ...core import geometry
from ...kernels import scalar
from ..elementwise import scalar_of
from ..reduction_arguments import dims_of
from .launching import FLOATS, are_floats, kernel_for, takes, viewed


def as_rows(launch, t, dims):
    """(tensor, outer, count, inner): contiguous, such that the middle of the three holds what is folded."""
    dims = sorted(dims)
    shape = t._shape
    if dims and dims != list(range(dims[0], dims[-1] + 1)):
        kept = [d for d in range(len(shape)) if d not in dims]
        order = [*kept, *dims]
        t = viewed(t, [shape[d] for d in order], [t._stride[d] for d in order])
        dims, shape = list(range(len(kept), len(shape))), t._shape
    first, end = (dims[0], dims[-1] + 1) if dims else (0, 0)
    sizes = [geometry.numel(part) for part in (shape[:first], shape[first:end], shape[end:])]
    return launch.contiguous(t), *sizes


def row_of(t, dim):
    """The dimensions of a `dim` argument, of a tensor that may have none."""
    return [geometry.wrap_dim(dim, len(t._shape))] if t._shape else []


def dims_asked(t, dim):
    """The dimensions of a `dim` argument: None and () are all of them."""
    return dims_of(dim, len(t._shape))


# ---- folds -------------------------------------------------------------------------------------------------


def folded(launch, name, out, t, dims, centre=None):
    """Put a fold of kernels/cuda/reduce.py over `dims` into the stream. `centre`: a tensor of out's elements."""
    from ...kernels.cuda import reduce

    if not takes(out, t):
        return False
    if not out.numel():
        return None
    rows, outer, count, inner = as_rows(launch, t, dims)
    target, source = launch.flat(out), launch.flat(rows)
    centres = None if centre is None else launch.flat(launch.contiguous(centre))
    launch.enqueue(
        lambda stream: reduce.run(name, target, source, outer, count, inner, launch.scratch, stream, centres)
    )


@kernel_for("sum", "prod", "max", "min")
def fold_all(launch, outputs, args):
    name = {"max": "amax", "min": "amin"}.get(launch.op.name, launch.op.name)
    return folded(launch, name, outputs[0], args[0], range(len(args[0]._shape)))


@kernel_for("sum_dim", "prod_dim", "amax", "amin", "any", "all", "count_nonzero", "nansum")
def fold_dims(launch, outputs, args):
    dims = dims_asked(args[0], args[1] if len(args) > 1 else None)
    return folded(launch, launch.op.name.removesuffix("_dim"), outputs[0], args[0], dims)


@kernel_for("aminmax")
def aminmax(launch, outputs, args):
    dims = dims_asked(args[0], args[1] if len(args) > 1 else None)
    if folded(launch, "amin", outputs[0], args[0], dims) is False:
        return False
    folded(launch, "amax", outputs[1], args[0], dims)


def scaled(x, factor):
    return x * factor


@kernel_for("mean", "mean_dim")
def mean(launch, outputs, args):
    out, t = outputs[0], args[0]
    dims = range(len(t._shape)) if launch.op.name == "mean" else dims_asked(t, args[1])
    return averaged(launch, out, t, dims)


def averaged(launch, out, t, dims):
    count = geometry.numel([t._shape[d] for d in dims])
    if not count or out._dtype not in FLOATS or folded(launch, "sum", out, t, dims) is False:
        return False
    launch.compute(scaled, out, [out, scalar_of(1 / count, out._dtype)], out._dtype)


def square_root(x):
    return np.sqrt(x)


@kernel_for("var", "std", "var_mean", "std_mean")
def spread(launch, outputs, args):
    """The mean first, then the squares around it: a difference of large sums would lose digits."""
    t, dim, correction = (*args, *(None, None)[len(args) - 1 :])[:3]
    out, dims = outputs[0], dims_asked(t, dim)
    count = geometry.numel([t._shape[d] for d in dims])
    freedom = count - (1 if correction is None else correction)
    centre = outputs[1] if len(outputs) > 1 else launch.empty(out._shape, out._dtype)
    if freedom <= 0 or t._dtype not in FLOATS or averaged(launch, centre, t, dims) is False:
        return False
    folded(launch, "squares around", out, t, dims, centre)
    launch.compute(scaled, out, [out, scalar_of(1 / freedom, out._dtype)], out._dtype)
    if launch.op.name.startswith("std"):
        launch.compute(square_root, out, [out], out._dtype)


def finite_or_zero(x):
    return x if abs(x) < np.inf else 0


def log_plus(total, centre):
    return scalar.log(total) + centre


@kernel_for("logsumexp")
def logsumexp(launch, outputs, args):
    t, out = args[0], outputs[0]
    dims = dims_asked(t, args[1])
    if t._dtype not in FLOATS or not t.numel():
        return False
    centre = launch.empty(out._shape, out._dtype)
    if folded(launch, "amax", centre, t, dims) is False:
        return False
    launch.compute(finite_or_zero, centre, [centre], centre._dtype)
    folded(launch, "powers below", out, t, dims, centre)
    launch.compute(log_plus, out, [out, centre], out._dtype)


NORMS = {2: ("squares", square_root), 1: ("sizes", None), np.inf: ("largest size", None)}


@kernel_for("linalg.vector_norm")
def vector_norm(launch, outputs, args):
    t, order, dim = (*args, *(2, None)[len(args) - 1 :])[:3]
    out = outputs[0]
    if order not in NORMS or not are_floats(t, out) or not t.numel():
        return False
    name, root = NORMS[order]
    if folded(launch, name, out, t, dims_asked(t, dim)) is False:
        return False
    if root is not None:
        launch.compute(root, out, [out], out._dtype)


@kernel_for("trace")
def trace(launch, outputs, args):
    diagonal = viewed(args[0], *geometry.diagonal(args[0]._shape, args[0]._stride, args[0]._offset))
    return folded(launch, "sum", outputs[0], diagonal, [0])


# ---- extremes and where they are ---------------------------------------------------------------------------


def extreme(launch, values, places, t, dims, largest):
    from ...kernels.cuda import extremes

    if not takes(t):
        return False
    if not places.numel():
        return None
    rows, *sizes = as_rows(launch, t, dims)
    arrays = [launch.flat(each) for each in (values, places, rows)]
    launch.enqueue(lambda stream: extremes.run(largest, *arrays, *sizes, launch.scratch, stream))


@kernel_for("max_dim", "min_dim")
def extreme_of_dim(launch, outputs, args):
    return extreme(launch, *outputs, args[0], row_of(args[0], args[1]), launch.op.name == "max_dim")


@kernel_for("argmax", "argmin")
def place_of_extreme(launch, outputs, args):
    t, dim = (*args, None)[:2]
    dims = range(len(t._shape)) if dim is None else row_of(t, dim)
    values = launch.empty(outputs[0]._shape, t._dtype)
    return extreme(launch, values, outputs[0], t, dims, launch.op.name == "argmax")


# ---- running folds -----------------------------------------------------------------------------------------


@kernel_for("cumsum", "cumprod", "logcumsumexp", "cumsum_", "cumprod_")
def running(launch, outputs, args):
    from ...kernels.cuda import scan

    t, name = args[0], launch.op.name.removesuffix("_")
    out = outputs[0] if outputs else t
    if not takes(out, t) or out._dtype is dt.bool or not out.is_contiguous():
        return False
    rows, *sizes = as_rows(launch, t, row_of(t, args[1]))
    target, source = launch.flat(out), launch.flat(rows)
    launch.enqueue(lambda stream: scan.run(name, target, source, *sizes, stream))


@kernel_for("cummax", "cummin")
def running_extreme(launch, outputs, args):
    from ...kernels.cuda import scan

    t = args[0]
    if not takes(t) or not t.numel():
        return takes(t)
    rows, *sizes = as_rows(launch, t, row_of(t, args[1]))
    arrays = [launch.flat(each) for each in (*outputs, rows)]
    launch.enqueue(lambda stream: scan.extremes(launch.op.name == "cummax", *arrays, *sizes, stream))


# ---- softmax -----------------------------------------------------------------------------------------------


@kernel_for("_softmax", "_log_softmax")
def softmax(launch, outputs, args):
    from ...kernels.cuda import softmax as kernels

    out, t, is_log = outputs[0], args[0], launch.op.name == "_log_softmax"
    if t._dtype not in FLOATS or out._dtype is not t._dtype or not t.numel() or not out.is_contiguous():
        return False
    rows, *sizes = as_rows(launch, t, row_of(t, args[1]))
    target, source = launch.flat(out), launch.flat(rows)
    launch.enqueue(lambda stream: kernels.forward(target, source, *sizes, is_log, stream))


@kernel_for("_softmax_backward_data", "_log_softmax_backward_data")
def softmax_backward(launch, outputs, args):
    from ...kernels.cuda import softmax as kernels

    out, (grad, result, dim), is_log = outputs[0], args[:3], "log" in launch.op.name
    if not are_floats(result, grad) or not result._shape or not result.numel():
        return False
    rows, *sizes = as_rows(launch, result, row_of(result, dim))
    target, slopes, source = launch.flat(out), launch.flat(launch.contiguous(grad)), launch.flat(rows)
    launch.enqueue(lambda stream: kernels.backward(target, slopes, source, *sizes, is_log, stream))


# ---- losses between two tensors ----------------------------------------------------------------------------


def squared(x, target):
    return (x - target) * (x - target)


def smooth_l1(x, target, beta):
    size = abs(x - target)
    return 0.5 * size * size / beta if size < beta else size - 0.5 * beta


def huber(x, target, delta):
    size = abs(x - target)
    return 0.5 * size * size if size <= delta else delta * (size - 0.5 * delta)


def soft_margin(x, target):
    return scalar.log1p(scalar.exp(-target * x))


def cross_entropy_of_logit(x, target):
    return (1.0 - target) * x - scalar.minimum(x, 0.0) + scalar.log1p(scalar.exp(-abs(x)))


LOSSES = {"mse_loss": squared, "smooth_l1_loss": smooth_l1, "huber_loss": huber, "soft_margin_loss": soft_margin}


@kernel_for(*LOSSES)
def loss(launch, outputs, args):
    x, target, reduction, *options = args
    if not are_floats(x, target):
        return False
    return reduced(launch, outputs[0], LOSSES[launch.op.name], [x, target], options, reduction)


@kernel_for("binary_cross_entropy_with_logits")
def loss_of_logits(launch, outputs, args):
    x, target, weight, pos_weight, reduction = args
    if weight is not None or pos_weight is not None or not are_floats(x, target):
        return False
    return reduced(launch, outputs[0], cross_entropy_of_logit, [x, target], (), reduction)


def reduced(launch, out, function, tensors, options, reduction):
    """A loss of each element, then their sum or mean, or all of them."""
    dtype = out._dtype
    operands = [*tensors, *[scalar_of(option, dtype) for option in options]]
    if reduction == "none":
        launch.compute(function, out, operands, dtype)
        return None
    losses = launch.empty(geometry.broadcast_shapes(*[t._shape for t in tensors]), dtype)
    launch.compute(function, losses, operands, dtype)
    fold = averaged if reduction == "mean" else summed
    return fold(launch, out, losses, range(len(losses._shape)))


def summed(launch, out, t, dims):
    return folded(launch, "sum", out, t, dims)


def slope_of_square(grad, x, target, factor):
    return factor * (x - target) * grad


@kernel_for("mse_loss_backward")
def square_backward(launch, outputs, args):
    grad, x, target, reduction = args
    if not are_floats(x, target, grad) or not x.numel():
        return False
    factor = scalar_of(2.0 / x.numel() if reduction == "mean" else 2.0, x._dtype)
    launch.compute(slope_of_square, outputs[0], [grad, x, target, factor], x._dtype)
