"""gather, and the family of scatter: one element per element of an index.

gather    result[i][index[i][j]] -> [i][j]        for dim = 1; the other dimensions go in step
scatter   the other way round: src[i][j] is written (added, multiplied, ...) to [i][index[i][j]]
"""

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..core.once import warn_once
from ..dispatch.operator import registry
from ..kernels import rows
from ..tensor import Tensor
from .declare import LINEAR, composite, operator, publish
from .fake import Fake, preserved_like, require_tensor
from .node_names import name_node
from .picking import cast, fake_index_add, require_index_array
from .view import geometry_of
from .writing import with_separate_out, writing

# ---- checks ---


def dims_of(shape):
    """A shape in which a 0-dim tensor counts as a vector of one element."""
    return shape or (1,)


def check_index_dtype(index, name):
    if index._dtype not in (dt.int64, dt.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


def fits(index_shape, shape, dim=None):
    """Whether an index is no larger than a tensor, apart from `dim`."""
    return all(n <= m for d, (n, m) in enumerate(zip(dims_of(index_shape), dims_of(shape))) if d != dim)


def is_empty(index):
    return 0 in index._shape


def check_inside(index, dim, shape):
    """A kernel's check of an index against dimension `dim` of `shape`; negative entries are refused too."""
    size = shape[dim] if shape else 1
    bad = rows.first_outside(index, size)
    if bad is not None:
        raise RuntimeError(f"index {bad} is out of bounds for dimension {dim % max(len(shape), 1)} with size {size}")


def fake_gather(self, dim, index, sparse_grad=False):
    dim = geometry.wrap_dim(dim, len(self._shape))
    if is_empty(index):
        return Fake(index._shape, self._dtype)
    check_index_dtype(index, "gather")
    if len(dims_of(index._shape)) != len(dims_of(self._shape)):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for d, (n, m) in enumerate(zip(dims_of(index._shape), dims_of(self._shape))):
        if d != dim and n > m:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(index._shape)} to be no "
                f"larger than self {list(self._shape)} apart from dimension {dim}"
            )
    if sparse_grad:
        raise NotImplementedError("gather: sparse_grad=True needs sparse tensors, which teachtorch has not")
    return Fake(index._shape, self._dtype)


def check_scatter(self, dim, index, src, name="scatter"):
    """PyTorch's refusals for an index and a source (a tensor or a number)."""
    dim = geometry.wrap_dim(dim, len(self._shape))
    if not is_empty(index):
        check_index_dtype(index, name)
    if isinstance(src, Tensor) and src._dtype is not self._dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not is_empty(index):
        check_scatter_shapes(self._shape, dim, index._shape, src._shape if isinstance(src, Tensor) else None)


def check_scatter_shapes(shape, dim, index_shape, src_shape):
    if len(dims_of(index_shape)) != len(dims_of(shape)):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    if src_shape is not None and len(dims_of(src_shape)) != len(dims_of(shape)):
        geometry.wrap_dim(len(shape) - 1, len(src_shape))  # what PyTorch says where the source has fewer
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    smaller = f"Expected index {list(index_shape)} to be no larger than self {list(shape)}"
    start = f"{smaller} apart from dimension {dim}"
    if src_shape is None:
        if not fits(index_shape, shape, dim):
            raise RuntimeError(start)
    elif not (fits(index_shape, shape, dim) and fits(index_shape, src_shape)):
        raise RuntimeError(f"{start} and to be no larger size than src {list(src_shape)}")


# ---- gather ---


@operator(
    "gather",
    fake=fake_gather,
    jvp=LINEAR,
    vjp={"self": lambda grad, self, dim, index: grad.new_zeros(self._shape).scatter_add_(dim, index, grad)},
)
def gather(self, dim, index, *, sparse_grad=False):
    """The elements that `index` (int64 or int32) picks along `dim`, the other dimensions in step."""
    geometry.wrap_dim(dim, self.ndim)
    if index.size == 0:
        return np.empty(index.shape, self.dtype)
    require_index_array(index, index.ndim)
    if sparse_grad or max(self.ndim, 1) != max(index.ndim, 1):
        refused()
    check_inside(index, dim, self.shape)
    if self.ndim == 0:
        return np.full(index.shape, self)
    if not all(n <= m for d, (n, m) in enumerate(zip(index.shape or (1,), self.shape)) if d != dim % self.ndim):
        refused()
    return np.array(self[rows.along(index, dim % self.ndim)], order="C", copy=None).reshape(index.shape)


with_separate_out(registry["gather"])


def refused():
    """Leave the refusal to the fake rule, which knows PyTorch's words."""
    raise RuntimeError("the arguments do not fit")


@composite("take_along_dim", out=True)
def take_along_dim(self, indices, dim=None):
    """gather with broadcasting: of `self` as a vector if `dim` is None."""
    if indices._dtype is not dt.int64:
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {scalar_type_name(indices._dtype)}"
        )
    if dim is None:
        return self.reshape(-1).gather(0, wrapped(indices.reshape(-1), self.numel()))
    if len(self._shape) != len(indices._shape):
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but "
            f"got {len(self._shape)} dimensions for input, and {len(indices._shape)} dimensions for "
            "indices"
        )
    dim = geometry.wrap_dim(dim, len(self._shape))
    others = geometry.broadcast_shapes(without(self._shape, dim), without(indices._shape, dim))
    full = others[:dim] + (self._shape[dim],) + others[dim:]
    wanted = others[:dim] + (indices._shape[dim],) + others[dim:]
    return self.expand(full).gather(dim, wrapped(indices, self._shape[dim]).expand(wanted))


def without(shape, dim):
    return shape[:dim] + shape[dim + 1 :]


def wrapped(index, size):
    """Negative entries counted from the end, as Python does; PyTorch wraps entries beyond the end too."""
    return index.remainder(size) if size else index


# ---- writing kernels ---


def write_at(self, dim, index, src):
    """self[... index ...] = src, for an array or number `src`, of which the part of index's shape is read."""
    if index.size == 0:
        return
    check_inside(index, dim, self.shape)
    values = src if np.ndim(src) == 0 else cropped(src, index)
    if self.ndim == 0:
        self[...] = np.broadcast_to(values, index.shape).reshape(-1)[-1]
    else:
        self[rows.along(index, dim % self.ndim)] = values


def combine_at(ufunc, self, dim, index, src):
    """self[... index ...] = ufunc(self[... index ...], src), repeats each."""
    if index.size == 0:
        return
    check_inside(index, dim, self.shape)
    shape = dims_of(self.shape)
    index = index.reshape(dims_of(index.shape))
    positions = rows.flat_positions(shape, index, dim % len(shape))
    values = cropped(np.asarray(src).reshape(dims_of(np.shape(src))), index)
    flat = np.ascontiguousarray(self).reshape(-1)
    rows.reduce_at(ufunc, flat, positions, np.broadcast_to(values, index.shape))
    if not np.shares_memory(flat, self):
        self[...] = flat.reshape(self.shape)


def cropped(src, index):
    """The part of a source that an index of smaller shape reads."""
    if src.shape == index.shape or src.size == 1:
        return src
    return src[tuple(map(slice, index.shape))]


def spread(picked, src_shape):
    """A gradient of index's shape as one of the source's, which is zero where the index did not read."""
    if picked._shape == tuple(src_shape):
        return picked
    full = picked.new_zeros(src_shape)
    part = full
    for d, n in enumerate(picked._shape):
        part = part.narrow(d, 0, n)
    part.copy_(picked)
    return full


# ---- scatter ---


def fake_scatter(self, dim, index, src):
    check_scatter(self, dim, index, src)
    return Fake(self._shape, self._dtype)


@writing(
    "scatter_src",
    fake=fake_scatter,
    jvp=LINEAR,
    spaces=(),
    vjp={
        "self": lambda grad, dim, index: grad.scatter(dim, index, 0),
        "src": lambda grad, dim, index, src_shape: spread(grad.gather(dim, index), src_shape),
    },
)
def scatter_src(self, dim, index, src):
    """Write elements of `src` along `dim` to where `index` says."""
    write_at(self, dim, index, src)


def without_written(self_t, dim, index):
    return self_t.scatter(dim, index, 0)


@writing(
    "scatter_value",
    fake=fake_scatter,
    jvp=without_written,
    spaces=(),
    vjp={"self": lambda grad, dim, index: grad.scatter(dim, index, 0)},
)
def scatter_value(self, dim, index, value):
    """Write one number along `dim` to where `index` says."""
    write_at(self, dim, index, cast(value, self.dtype))


_REDUCE = {"add": np.add, "multiply": np.multiply}


def fake_scatter_with(self, dim, index, src, reduce):
    if reduce not in _REDUCE:
        raise RuntimeError("reduce argument must be either add or multiply.")
    return fake_scatter(self, dim, index, src)


def not_differentiable(grad):
    raise NotImplementedError("the derivative for 'scatter with reduce' is not implemented; use scatter_reduce")


@writing("scatter_with", fake=fake_scatter_with, spaces=(), vjp={"self": not_differentiable})
def scatter_with(self, dim, index, src, reduce):
    """Add or multiply `src`, a tensor or number, along `dim` to where `index` says."""
    combine_at(_REDUCE[reduce], self, dim, index, cast(src, self.dtype))


def scatter(input, dim, index, src=None, *, value=None, reduce=None, out=None):
    """`input` with `src` (a tensor or number) written along `dim` to where `index` says.

    `reduce`: "add" or "multiply" instead of writing. Of repeats in `index` any may win.
    """
    found = _scatter("", input, dim, index, value if src is None else src, reduce)
    return found if out is None else copied_out(out, found)


def scatter_(self, dim, index, src=None, *, value=None, reduce=None):
    """In-place version of `scatter`."""
    return _scatter("_", self, dim, index, value if src is None else src, reduce)


def _scatter(suffix, t, dim, index, src, reduce):
    require_tensor(index, "scatter" + suffix, "index", 2)
    if reduce is not None:
        if isinstance(src, Tensor):
            warn_once("scatter reduce", REDUCE_OF_TENSORS)
        return registry["scatter_with" + suffix](t, dim, index, src, reduce)
    if isinstance(src, Tensor):
        return registry["scatter_src" + suffix](t, dim, index, src)
    if not isinstance(src, (bool, int, float)):
        raise TypeError(f"scatter{suffix}(): argument 'src' (position 3) must be Tensor, not {type(src).__name__}")
    return registry["scatter_value" + suffix](t, dim, index, src)


REDUCE_OF_TENSORS = (
    "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a "
    "future PyTorch release. Use torch.scatter_reduce instead for more reduction options."
)


def copied_out(out, found):
    if out._shape != found._shape:
        out.resize_(found._shape)
    return out.copy_(found)


publish("scatter", scatter, ("", "Tensor"))
publish("scatter_", scatter_, ("Tensor",))
name_node("scatter_src", "ScatterBackward0")
name_node("scatter_value", "ScatterBackward1")


@writing(
    "scatter_add",
    fake=fake_scatter,
    jvp=LINEAR,
    vjp={
        "self": lambda grad: grad,
        "src": lambda grad, dim, index, src_shape: spread(grad.gather(dim, index), src_shape),
    },
)
def scatter_add(self, dim, index, src):
    """Add elements of `src` along `dim` to where `index` says; repeats add each."""
    combine_at(np.add, self, dim, index, src)


with_separate_out(registry["scatter_add"])


# ---- scatter_reduce ---

_UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def fake_scatter_reduce(self, dim, index, src, reduce, include_self=True):
    if reduce not in _UFUNCS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    check_scatter(self, dim, index, src, "scatter_reduce")
    return Fake(self._shape, self._dtype)


def scatter_reduce_backward(grad, self, dim, index, src, reduce, include_self, result):
    """The gradients of `self` and `src`, by the kind of reduction."""
    src_shape = src._shape
    src = read_part(src, index)
    rule = {"sum": sum_backward, "mean": mean_backward, "prod": prod_backward}.get(reduce, extreme_backward)
    for_self, for_src = rule(grad, self, dim, index, src, reduce, include_self, result)
    if not include_self:
        for_self = for_self.scatter(dim, index, 0)
    return for_self, spread(for_src, src_shape)


def read_part(src, index):
    for d, n in enumerate(index._shape):
        src = src if src._shape[d] == n else src.narrow(d, 0, n)
    return src


def sum_backward(grad, self, dim, index, src, reduce, include_self, result):
    return grad, grad.gather(dim, index)


def mean_backward(grad, self, dim, index, src, reduce, include_self, result):
    count = grad.new_zeros(grad._shape) + (1 if include_self else 0)
    count = count.scatter_add(dim, index, src.new_ones(src._shape))
    share = grad / count.masked_fill(count == 0, 1)
    return share, share.gather(dim, index)


def extreme_backward(grad, self, dim, index, src, reduce, include_self, result):
    """amax and amin: equal shares to all that have the result's value."""
    self_wins = (self == result).to(grad._dtype)
    src_wins = (src == result.gather(dim, index)).to(grad._dtype)
    share = grad / self_wins.scatter_add(dim, index, src_wins)
    return self_wins * share, src_wins * share.gather(dim, index)


def prod_backward(grad, self, dim, index, src, reduce, include_self, result):
    """The product of all others: by division, except at zeros, where it is computed without them."""
    filled = self.masked_fill(self == 0, 1)
    for_self = grad * filled.scatter_reduce(dim, index, src, reduce, include_self=include_self) / filled
    is_zero = src == 0
    zeros = self.new_zeros(self._shape).scatter_add(dim, index, is_zero.to(self._dtype)).gather(dim, index)
    only_zero = is_zero.logical_and(zeros == 1)
    others = self.scatter_reduce(dim, index, src.masked_fill(only_zero, 1), reduce, include_self=include_self)
    by_division = (grad * result).gather(dim, index) / src.masked_fill(is_zero, 1)
    return for_self, (grad * others).gather(dim, index).where(only_zero, by_division)


def scatter_reduce_jvp(self, self_t, dim, index, src, src_t, reduce, include_self, result):
    """Each input reaches one element of the result, so its derivative is what a gradient of ones becomes."""
    ones = result.new_ones(result._shape)
    by_self, by_src = scatter_reduce_backward(ones, self, dim, index, src, reduce, include_self, result)
    tangent = result.new_zeros(result._shape) if self_t is None else by_self * self_t
    return tangent if src_t is None else tangent.scatter_add(dim, index, by_src * src_t)


@writing("scatter_reduce", fake=fake_scatter_reduce, jvp=scatter_reduce_jvp, vjp={"self, src": scatter_reduce_backward})
def scatter_reduce(self, dim, index, src, reduce, *, include_self=True):
    """Reduce ("sum", "prod", "mean", "amax" or "amin") elements of `src` along `dim` to where `index` says.

    `include_self`: whether the elements of `self` take part where something arrives.
    """
    if index.size == 0:
        return
    check_inside(index, dim, self.shape)
    if not include_self:
        write_at(self, dim, index, neutral(reduce, self.dtype))
    combine_at(_UFUNCS[reduce], self, dim, index, src)
    if reduce == "mean":
        divide_by_counts(self, dim, index, include_self)


def neutral(reduce, dtype):
    """The number that changes nothing when reduced with."""
    if reduce in ("sum", "mean", "prod"):
        return dtype.type(1 if reduce == "prod" else 0)
    if dtype == np.bool_:
        return np.bool_(reduce == "amin")
    limits = limits_of(dtype)
    return limits[0] if reduce == "amax" else limits[1]


def limits_of(dtype):
    if np.issubdtype(dtype, np.integer):
        return np.iinfo(dtype).min, np.iinfo(dtype).max
    return dtype.type(-np.inf), dtype.type(np.inf)


def divide_by_counts(self, dim, index, include_self):
    counts = np.full(self.shape, 1 if include_self else 0, np.int64)
    combine_at(np.add, counts, dim, index, np.int64(1))
    counts[counts == 0] = 1
    divide = np.floor_divide if np.issubdtype(self.dtype, np.integer) else np.true_divide
    self[...] = divide(self, counts.astype(self.dtype))


def reducing_by_index(t, dim, index, source, reduce, include_self, scatter_reduce):
    """index_reduce by scatter_reduce, whose index has the source's shape."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    fake_index_add(t, dim, index, source)
    warn_once("index_reduce", "index_reduce() is in beta and the API may change at any time.")
    dim = geometry.wrap_dim(dim, len(t._shape))
    column = [1] * len(source._shape)
    if column:
        column[dim] = -1
        index = index.reshape(column).expand(source._shape)
    else:
        index = index.reshape(())
    return scatter_reduce(t, dim, index, source, reduce, include_self=include_self)


@composite("index_reduce", out=True)
def index_reduce(self, dim, index, source, reduce, *, include_self=True):
    """Reduce ("prod", "mean", "amax", "amin") slices of `source` to those of `dim` that `index` lists."""
    return reducing_by_index(self, dim, index, source, reduce, include_self, Tensor.scatter_reduce)


def index_reduce_(self, dim, index, source, reduce, *, include_self=True):
    """In-place version of `index_reduce`."""
    return reducing_by_index(self, dim, index, source, reduce, include_self, Tensor.scatter_reduce_)


publish("index_reduce_", index_reduce_, ("Tensor",))


# ---- writing a slice into a copy ---


def check_slice(src, shape):
    if src._shape != shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src._shape)}, slice size = {list(shape)}"
        )


def fake_select_scatter(self, src, dim, index):
    check_slice(src, geometry.select(*geometry_of(self), dim, index)[0])
    return preserved_like(self)


@writing(
    "select_scatter",
    fake=fake_select_scatter,
    jvp=LINEAR,
    inplace=False,
    out=False,
    vjp={
        "self": lambda grad, src_shape, dim, index: grad.select_scatter(grad.new_zeros(src_shape), dim, index),
        "src": lambda grad, dim, index: grad.select(dim, index),
    },
)
def select_scatter(self, src, dim, index):
    """A copy of `self` with `src` at `index` of `dim`."""
    self[rows.whole(self.ndim, dim, index)] = src


def fake_slice_scatter(self, src, dim=0, start=None, end=None, step=1):
    check_slice(src, geometry.slice_(*geometry_of(self), dim, start, end, step)[0])
    return preserved_like(self)


@writing(
    "slice_scatter",
    fake=fake_slice_scatter,
    jvp=LINEAR,
    inplace=False,
    vjp={
        "self": lambda grad, src_shape, dim, start, end, step: grad.slice_scatter(
            grad.new_zeros(src_shape), dim, start, end, step
        ),
        "src": lambda grad, dim, start, end, step: registry["slice"](grad, dim, start, end, step),
    },
)
def slice_scatter(self, src, dim=0, start=None, end=None, step=1):
    """A copy of `self` with `src` in the slice of `dim`."""
    self[rows.whole(self.ndim, dim, slice(start, end, step))] = src


def fake_diagonal_scatter(self, src, offset=0, dim1=0, dim2=1):
    check_slice(src, geometry.diagonal(*geometry_of(self), offset, dim1, dim2)[0])
    return preserved_like(self)


@writing(
    "diagonal_scatter",
    fake=fake_diagonal_scatter,
    jvp=LINEAR,
    inplace=False,
    out=False,
    vjp={
        "self": lambda grad, src_shape, offset, dim1, dim2: grad.diagonal_scatter(
            grad.new_zeros(src_shape), offset, dim1, dim2
        ),
        "src": lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
    },
)
def diagonal_scatter(self, src, offset=0, dim1=0, dim2=1):
    """A copy of `self` with `src` on a diagonal."""
    diagonal = np.diagonal(self, offset, dim1, dim2)
    diagonal.flags.writeable = True  # NumPy hands it out read-only, though it is a view of our own copy
    diagonal[...] = src
