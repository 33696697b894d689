"""Places that data choose: along one dimension, by several index tensors, rows of a table, classes."""

from ...core import dtype as dt
from ...core import geometry
from ...core.indexing import gather_layout
from ...tensor import Tensor
from ..elementwise import scalar_of
from ..loss import class_dim, loss_shape
from .launching import FLOATS, are_floats, kernel_for, takes, viewed
from .rows import folded

WHOLE = (dt.int64, dt.int32)


# ---- along one dimension -----------------------------------------------------------------------------------


def along(launch, action, index, same, other, dim, negative=False):
    """Put gather, scatter or scatter_add (kernels/cuda/picking.py) into the stream."""
    from ...kernels.cuda import picking

    arrays = [launch.strided(each) for each in (index, same, other)]
    bad = launch.runtime.bad_index
    launch.enqueue(lambda stream: picking.run(action, *arrays, dim, bad, stream, negative))


def lifted(t):
    """A tensor without dimensions as one of one element."""
    return t if t._shape else viewed(t, (1,), (1,))


@kernel_for("gather")
def gather(launch, outputs, args):
    t, dim, index = args[:3]
    if not takes(t) or index._dtype is not dt.int64:
        return False
    dim = geometry.wrap_dim(dim, max(len(t._shape), 1))
    along(launch, "gather", lifted(index), lifted(outputs[0]), lifted(t), dim)


def scattered(launch, outputs, args, action, source):
    t, dim, index = args[:3]
    target = outputs[0] if outputs else t
    if outputs:
        launch.copy(target, t)
    dim = geometry.wrap_dim(dim, max(len(t._shape), 1))
    along(launch, action, lifted(index), lifted(source), lifted(target), dim)


@kernel_for("scatter_add", "scatter_add_")
def scatter_add(launch, outputs, args):
    t, _, index, source = args[:4]
    if not are_floats(t, source) or index._dtype is not dt.int64:
        return False
    return scattered(launch, outputs, args, "scatter_add", source)


@kernel_for("scatter_src", "scatter_src_")
def scatter(launch, outputs, args):
    t, _, index, source = args
    if not takes(t) or t._dtype is not source._dtype or index._dtype is not dt.int64:
        return False
    return scattered(launch, outputs, args, "scatter", source)


@kernel_for("scatter_value", "scatter_value_")
def scatter_value(launch, outputs, args):
    t, _, index, value = args
    if not takes(t) or isinstance(value, Tensor) or index._dtype is not dt.int64:
        return False
    source = launch.empty((1,), t._dtype)
    launch.fill(source, value)
    same = viewed(source, index._shape, (0,) * len(index._shape))
    return scattered(launch, outputs, args, "scatter", same)


@kernel_for("scatter_reduce", "scatter_reduce_", "scatter_with", "scatter_with_")
def scatter_sum(launch, outputs, args):
    source, reduce = args[3:5]
    include_self = args[5] if len(args) > 5 else True
    if reduce not in ("sum", "add") or not include_self or not isinstance(source, Tensor):
        return False
    return scatter_add(launch, outputs, args)


@kernel_for("value_selecting_reduction_backward")
def put_back(launch, outputs, args):
    grad, dim, indices, _ = args
    out = outputs[0]
    if not takes(out) or not out._shape:
        return False
    launch.fill(out, 0)
    along(launch, "scatter", indices, grad, out, geometry.wrap_dim(dim, len(out._shape)))


# ---- whole slices ------------------------------------------------------------------------------------------


def spread_over(index, shape, dim):
    """An index of one dimension as one of `shape`, the same for all other dimensions."""
    step = index._stride[0] if index._shape else 0
    return viewed(index, shape, [step if d == dim else 0 for d in range(len(shape))])


def slices(launch, action, t, dim, index, same, negative=False):
    """gather, scatter or scatter_add of whole slices of `t`: `same` has as many of them as `index` names."""
    t, same = lifted(t), lifted(same)
    dim = geometry.wrap_dim(dim, len(t._shape))
    along(launch, action, spread_over(index, same._shape, dim), same, t, dim, negative)


@kernel_for("index_select")
def index_select(launch, outputs, args):
    t, dim, index = args
    if not takes(t) or index._dtype not in WHOLE:
        return False
    slices(launch, "gather", t, dim, index, outputs[0])


def changed(launch, outputs, t):
    if outputs:
        launch.copy(outputs[0], t)
    return outputs[0] if outputs else t


def scaled(x, factor):
    return x * factor


@kernel_for("index_add", "index_add_")
def index_add(launch, outputs, args):
    t, dim, index, source, alpha = (*args, 1)[:5]
    if not are_floats(t, source) or index._dtype not in WHOLE:
        return False
    if alpha != 1:
        product = launch.empty(source._shape, source._dtype)
        launch.compute(scaled, product, [source, scalar_of(alpha, t._dtype)], t._dtype)
        source = product
    slices(launch, "scatter_add", changed(launch, outputs, t), dim, index, source)


@kernel_for("index_copy", "index_copy_")
def index_copy(launch, outputs, args):
    t, dim, index, source = args
    if not takes(t) or t._dtype is not source._dtype or index._dtype is not dt.int64:
        return False
    slices(launch, "scatter", changed(launch, outputs, t), dim, index, source)


@kernel_for("index_fill", "index_fill_")
def index_fill(launch, outputs, args):
    t, dim, index, value = args
    if not takes(t) or isinstance(value, Tensor) or index._dtype is not dt.int64:
        return False
    number = launch.empty((1,), t._dtype)
    launch.fill(number, value)
    shape = list(lifted(t)._shape)
    shape[geometry.wrap_dim(dim, len(shape))] = index.numel()
    slices(launch, "scatter", changed(launch, outputs, t), dim, index, viewed(number, shape, (0,) * len(shape)), True)


# ---- by the number of an element ---------------------------------------------------------------------------


def line(t):
    """A contiguous tensor as one dimension."""
    return viewed(t, (t.numel(),), (1,))


@kernel_for("take")
def take(launch, outputs, args):
    t, index = args
    if not takes(t) or index._dtype is not dt.int64:
        return False
    same, index = outputs[0], launch.contiguous(index)
    along(launch, "gather", line(index), line(same), line(launch.contiguous(t)), 0, True)


@kernel_for("put", "put_")
def put(launch, outputs, args):
    t, index, source, accumulate = (*args, False)[:4]
    target = outputs[0] if outputs else t
    if not takes(t) or t._dtype is not source._dtype or index._dtype is not dt.int64 or not target.is_contiguous():
        return False
    if accumulate and t._dtype not in FLOATS:
        return False
    target = changed(launch, outputs, t)
    index, source = line(launch.contiguous(index)), line(launch.contiguous(source))
    along(launch, "scatter_add" if accumulate else "scatter", index, source, line(target), 0, True)


# ---- several index tensors ---------------------------------------------------------------------------------


def picked(launch, action, t, indices, same):
    """Read, write or add what `t[indices]` picks. False for masks, whose positions only the host can count."""
    from ...kernels.cuda import picking

    given = [i for i in indices if i is not None]
    if any(i._dtype not in WHOLE or i.is_cpu for i in given) or not takes(t):
        return False
    shapes = [None if i is None else i._shape for i in indices] + [None] * (len(t._shape) - len(indices))
    shape, place, own = gather_layout(t._shape, shapes)
    kept = [t._stride[d] for d, each in enumerate(shapes) if each is None]
    steps = kept[:place] + [0] * len(own) + kept[place:]
    choices = [
        (launch.flat(i), index_steps(i, own, place, len(shape)), t._shape[d], t._stride[d])
        for d, i in enumerate(indices)
        if i is not None
    ]
    same, other, bad = launch.strided(same), launch.flat(t), launch.runtime.bad_index
    launch.enqueue(lambda stream: picking.pick(action, shape, same, other, steps, choices, bad, stream))


def index_steps(index, own, place, ndim):
    """The steps of an index tensor along the result: it broadcasts to `own`, whose dimensions begin at `place`."""
    _, steps, _ = geometry.expand(index._shape, index._stride, 0, own)
    return [0] * place + list(steps) + [0] * (ndim - place - len(own))


@kernel_for("index")
def index(launch, outputs, args):
    return picked(launch, "read", args[0], args[1], outputs[0])


@kernel_for("index_put", "index_put_")
def index_put(launch, outputs, args):
    t, indices, values, accumulate = (*args, False)[:4]
    if values.is_cpu or accumulate and t._dtype not in FLOATS or not all_whole(indices):
        return False
    return picked(launch, "add" if accumulate else "write", changed(launch, outputs, t), indices, values)


def all_whole(indices):
    return all(i is None or i._dtype in WHOLE and not i.is_cpu for i in indices)


@kernel_for("index_backward")
def index_backward(launch, outputs, args):
    grad, _, indices = args
    out = outputs[0]
    if out._dtype not in FLOATS or not all_whole(indices):
        return False
    launch.fill(out, 0)
    return picked(launch, "add", out, indices, grad)


# ---- rows of a table ---------------------------------------------------------------------------------------


@kernel_for("embedding")
def embedding(launch, outputs, args):
    (weight, indices), out = args[:2], outputs[0]
    if not takes(weight) or indices._dtype not in WHOLE:
        return False
    rows = viewed(out, (indices.numel(), weight._shape[1]), (weight._shape[1], 1))
    slices(launch, "gather", weight, 0, line(launch.contiguous(indices)), rows)


@kernel_for("embedding_dense_backward")
def embedding_backward(launch, outputs, args):
    """The padding's row is added up as well, and then cleared."""
    (grad, indices, _, padding, by_frequency), out = args, outputs[0]
    if out._dtype not in FLOATS or by_frequency or indices._dtype not in WHOLE:
        return False
    launch.fill(out, 0)
    columns, grad = grad._shape[-1], launch.contiguous(grad)
    rows = viewed(grad, (indices.numel(), columns), (columns, 1))
    slices(launch, "scatter_add", out, 0, line(launch.contiguous(indices)), rows)
    if padding >= 0:
        launch.fill(viewed(out, *geometry.select(out._shape, out._stride, out._offset, 0, padding)), 0)


# ---- classes -----------------------------------------------------------------------------------------------


def quotient(total, weight):
    return total / weight


def class_geometry(t, shape):
    """(steps from target to target, step from class to class, number of classes) of (N, C, ...) or (C,)."""
    dim = class_dim(len(shape))
    steps = [step for d, step in enumerate(t._stride) if d != dim]
    return steps, t._stride[dim], shape[dim]


@kernel_for("nll_loss", "nll_loss2d")
def class_loss(launch, outputs, args):
    from ...kernels.cuda import picking

    x, target, weight, reduction, ignored = (*args, *(None, "mean", -100)[len(args) - 2 :])
    if not are_floats(x, weight) or target._dtype is not dt.int64:
        return False
    targets, out = targets_of(target, x._shape), outputs[0]
    losses = out if reduction == "none" else launch.empty(targets._shape, x._dtype)
    weights = launch.empty(targets._shape, x._dtype)
    steps, step, classes = class_geometry(x, x._shape)
    arrays = [launch.flat(losses), launch.flat(weights), launch.flat(x), steps, launch.strided(targets)]
    given, bad = None if weight is None else launch.flat(launch.contiguous(weight)), launch.runtime.bad_index
    launch.enqueue(lambda stream: picking.class_losses(*arrays, given, classes, int(step), int(ignored), bad, stream))
    if reduction == "none":
        return None
    dims = range(len(targets._shape))
    folded(launch, "sum", out, losses, dims)
    if reduction == "mean":
        total = launch.empty((), x._dtype)
        folded(launch, "sum", total, weights, dims)
        launch.compute(quotient, out, [out, total], out._dtype)


def targets_of(target, shape):
    """The targets with a dimension for each of the losses'."""
    wanted = loss_shape(shape)
    return target if target._shape == wanted else viewed(target, wanted, target._stride[: len(wanted)])


@kernel_for("nll_loss_backward")
def class_slope(launch, outputs, args):
    from ...kernels.cuda import picking

    grad, shape, target, weight, reduction, ignored = args
    out = outputs[0]
    if not are_floats(grad, weight) or target._dtype is not dt.int64:
        return False
    targets, total = targets_of(target, shape), None
    given, bad = None if weight is None else launch.flat(launch.contiguous(weight)), launch.runtime.bad_index
    if reduction == "mean":
        total = launch.flat(total_weight(launch, grad._dtype, targets, given, shape, ignored))
    launch.fill(out, 0)
    steps, step, classes = class_geometry(out, shape)
    slopes = grad if reduction == "none" else viewed(grad, targets._shape, (0,) * len(targets._shape))
    arrays = launch.flat(out), steps, launch.flat(slopes), slopes._stride, launch.strided(targets)
    launch.enqueue(
        lambda stream: picking.class_slopes(*arrays, given, total, classes, int(step), int(ignored), bad, stream)
    )


def total_weight(launch, dtype, targets, weight, shape, ignored):
    """The sum of the targets' weights, a tensor of no dimensions."""
    from ...kernels.cuda import picking

    weights, total = launch.empty(targets._shape, dtype), launch.empty((), dtype)
    zero = launch.empty((1,), dtype)
    launch.fill(zero, 0)
    nothing = [0] * len(targets._shape)
    losses = launch.empty(targets._shape, dtype)
    arrays = [launch.flat(losses), launch.flat(weights), launch.flat(zero), nothing, launch.strided(targets)]
    classes, bad = shape[class_dim(len(shape))], launch.runtime.bad_index
    launch.enqueue(lambda stream: picking.class_losses(*arrays, weight, classes, 0, int(ignored), bad, stream))
    folded(launch, "sum", total, weights, range(len(targets._shape)))
    return total
