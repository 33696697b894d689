"""Embedding: rows of a table looked up by index, and sums, means or maxima of them by bag."""

import warnings

import numpy as np

from ..core import dtype as dt
from ..dispatch.operator import registry
from ..kernels import rows
from ..tensor import array_of
from .creation import beside
from .declare import LINEAR, operator, publish
from .fake import Fake

# ---- looking up ---


def fake_embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    if len(weight._shape) != 2:
        raise RuntimeError("'weight' must be 2-D")
    check_lookup(indices, "embedding")
    return Fake(indices._shape + weight._shape[1:], weight._dtype)


def check_lookup(indices, name):
    if indices._dtype not in (dt.int64, dt.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
            f"Int; but got {dt.type_name(indices._dtype)} instead (while checking "
            f"arguments for {name})"
        )


@operator(
    "embedding",
    fake=fake_embedding,
    jvp=LINEAR,
    spaces=("",),
    out=False,
    vjp={
        "weight": lambda grad, weight_shape, indices, padding_idx, scale_grad_by_freq, sparse: registry[
            "embedding_sparse_backward" if sparse else "embedding_dense_backward"
        ](grad, indices, weight_shape[0], padding_idx, scale_grad_by_freq)
    },
)
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """Rows of `weight` (rows, columns), one per entry of `indices` (int64 or int32, any shape)."""
    if weight.ndim != 2 or indices.dtype not in (np.int64, np.int32):
        raise TypeError("embedding: the arguments do not fit")
    if rows.first_outside(indices, weight.shape[0]) is not None:
        raise IndexError("index out of range in self")
    return weight.take(indices, 0)


def fake_embedding_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq):
    return Fake((num_weights, grad._shape[-1]), grad._dtype)


@operator(
    "embedding_dense_backward",
    fake=fake_embedding_backward,
    jvp=LINEAR,
    spaces=("Tensor",),
    out=False,
    vjp={"grad": lambda grad, indices, padding_idx: without_padding(embedding(grad, indices), indices, padding_idx)},
)
def embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq):
    """The gradients added up per row, none for the padding row. By frequency: their mean instead."""
    columns = grad.shape[-1]
    table = np.zeros((num_weights, columns), grad.dtype)
    picked, source = indices.reshape(-1).astype(np.int64, copy=False), grad.reshape(-1, columns)
    if padding_idx >= 0:
        keep = picked != padding_idx
        picked, source = picked[keep], source[keep]
    if scale_grad_by_freq and picked.size:
        source = source / np.bincount(picked)[picked].astype(grad.dtype)[:, None]
    rows.add_rows(table, picked, np.ascontiguousarray(source))
    return table


def without_padding(found, indices, padding_idx):
    return found if padding_idx < 0 else found.masked_fill((indices == padding_idx).unsqueeze(-1), 0)


def nn_embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Rows of `weight` (rows, columns) for each entry of `input` (int64 or int32, any shape).

    Args:
        padding_idx: the row that receives no gradient; negative: counted from the end.
        max_norm: rows that are looked up are first scaled down, in place, to this `norm_type`-norm.
        scale_grad_by_freq: divide each row's gradient by how often it was looked up.
        sparse: make the weight's gradient a sparse tensor, which holds the rows that were looked up.
    """
    padding_idx = -1 if padding_idx is None else padding_row(padding_idx, weight)
    if max_norm is not None:
        renormalise(weight, input, max_norm, norm_type)
    return embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def padding_row(padding_idx, weight):
    count = weight._shape[0]
    if not -count <= padding_idx < count:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % count


def renormalise(weight, input, max_norm, norm_type):
    """Scale rows that `input` names and whose norm exceeds `max_norm` down to it, in place, unrecorded."""
    named = np.unique(array_of(input))
    if rows.first_outside(named, weight._shape[0]) is not None:
        raise IndexError("index out of range in self")
    found = array_of(weight)[named]
    norms = np.linalg.norm(found, ord=norm_type, axis=1)
    scale = np.where(norms > max_norm, max_norm / (norms + 1e-7), 1).astype(found.dtype)
    weight.detach().index_copy_(0, beside(weight, named), beside(weight, found * scale[:, None]))


publish("embedding", nn_embedding, ("nn.functional",))


# ---- bags ---


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """The sum, mean or maximum of `weight`'s rows (rows, columns) over each bag of indices: (bags, columns).

    Args:
        input: (bags, length), or a vector of which `offsets` says where each bag starts.
        mode: "sum", "mean" or "max"; an empty bag gives zeros.
        per_sample_weights: of input's shape, multiplied to the rows; only for "sum".
        include_last_offset: whether `offsets` ends with the length of `input`.
        padding_idx: entries that are left out of their bag.
        max_norm, norm_type, scale_grad_by_freq, sparse: as for `embedding`.
    """
    if weight._dtype is dt.int64 and input._dtype.is_floating_point:
        warnings.warn("Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, "
                      "...)` is deprecated, and should now be `embedding_bag(input, weight, ...)`.", stacklevel=2)
        input, weight = weight, input
    check_bag_arguments(input, weight, offsets, mode, scale_grad_by_freq, sparse, per_sample_weights)
    if len(input._shape) == 2:
        offsets = beside(input, np.arange(input._shape[0], dtype=np.int64) * input._shape[1])
        input, include_last_offset = input.reshape(-1), False
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    bags, count = bag_numbers(array_of(offsets), input._shape[0], include_last_offset)
    check_entries(input, weight, padding_idx)
    input, per_sample_weights = leading(input, bags.size), leading(per_sample_weights, bags.size)
    if padding_idx is not None:
        kept = array_of(input) != padding_idx % weight._shape[0]
        positions = beside(input, kept.nonzero()[0])
        input, bags = input.index_select(0, positions), bags[kept]
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.index_select(0, positions)
    if max_norm is not None:
        renormalise(weight, input, max_norm, norm_type)
    found = embedding(weight, input, -1, scale_grad_by_freq, sparse)
    if per_sample_weights is not None:
        found = found * per_sample_weights.unsqueeze(-1)
    return REDUCTIONS[mode](found, bags, count)


def leading(t, count):
    """The first entries of a vector; the rest belongs to no bag."""
    return t if t is None or t._shape[0] == count else t.narrow(0, 0, count)


def sum_of_bags(found, bags, count):
    return found.new_zeros((count, found._shape[1])).index_add(0, beside(found, bags), found)


def mean_of_bags(found, bags, count):
    sizes = np.maximum(np.bincount(bags, minlength=count), 1)[:, None].astype(found._dtype.numpy)
    return sum_of_bags(found, bags, count) / beside(found, sizes)


def max_of_bags(found, bags, count):
    """The first row that has the maximum gets the gradient."""
    values = array_of(found.detach())
    best = np.zeros((count, values.shape[1]), np.int64)
    sizes = np.bincount(bags, minlength=count)
    starts = np.cumsum(sizes) - sizes
    for bag in sizes.nonzero()[0]:
        start = starts[bag]
        best[bag] = start + values[start : start + sizes[bag]].argmax(0)
    if not bags.size:
        return found.new_zeros(best.shape)
    return found.gather(0, beside(found, best)).masked_fill(beside(found, sizes[:, None] == 0), 0)


REDUCTIONS = {"sum": sum_of_bags, "mean": mean_of_bags, "max": max_of_bags}


def bag_numbers(offsets, length, include_last_offset):
    """(the bag of every entry, the number of bags)."""
    if offsets.size and offsets[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {offsets[0]}"
        )
    if offsets.size and offsets[-1] > length:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {length} but got offsets[-1] of {offsets[-1]}"
        )
    ends = offsets[1:] if include_last_offset else np.append(offsets[1:], length)[: offsets.size]
    sizes = ends - offsets[: ends.size]
    if (sizes < 0).any():
        raise RuntimeError("embedding_bag: offsets must not decrease")
    bags = np.repeat(np.arange(ends.size), sizes)
    return bags[:length], ends.size


def check_entries(input, weight, padding_idx):
    check_lookup(input, "embedding_bag")
    rows_count = weight._shape[0]
    if padding_idx is not None and not -rows_count <= padding_idx < rows_count:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{rows_count} through "
            f"{rows_count - 1}, but got {padding_idx}"
        )
    entries = array_of(input)
    bad = rows.first_outside(entries, rows_count)
    if bad is not None:
        place = int((entries == bad).argmax())
        raise RuntimeError(
            f"Index {place} of input takes value {bad} which is not in the valid range [0, {rows_count})"
        )


def check_bag_arguments(input, weight, offsets, mode, scale_grad_by_freq, sparse, per_sample_weights):
    """PyTorch's refusals, in its order."""
    if per_sample_weights is not None and input._shape != per_sample_weights._shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must "
            f"have the same shape as the input ({input.shape})"
        )
    if len(weight._shape) != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {len(weight._shape)}")
    check_bag_shapes(input, offsets)
    if mode not in REDUCTIONS:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )
    if per_sample_weights is not None and per_sample_weights._dtype is not weight._dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type {dt.type_name(weight._dtype)} does not equal "
            f"{dt.type_name(per_sample_weights._dtype)} (while checking arguments for embedding_bag)"
        )


def check_bag_shapes(input, offsets):
    ndim = len(input._shape)
    if ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                f"length sequences. However, found offsets of type {type(offsets)}"
            )
    elif ndim != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {ndim}")
    elif offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    elif len(offsets._shape) != 1:
        raise ValueError("offsets has to be a 1D Tensor")


publish("embedding_bag", embedding_bag, ("nn.functional",))
