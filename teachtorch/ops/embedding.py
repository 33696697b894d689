"""Embedding: rows of a table looked up by index, and sums, means or maxima of them by bag."""
import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..kernels import rows
from ..tensor import array_of, from_array
from .declare import LINEAR, operator, publish
from .fake import Fake

NO_SPARSE = "sparse=True needs sparse gradients, which teachtorch has not; use sparse=False"


# ---- looking up -----------------------------------------------------------------------------------------------

def fake_embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    if len(weight._shape) != 2:
        raise RuntimeError("'weight' must be 2-D")
    check_lookup(indices, "embedding")
    if sparse:
        raise NotImplementedError(f"embedding: {NO_SPARSE}")
    return Fake(indices._shape + weight._shape[1:], weight._dtype)


def check_lookup(indices, name):
    if indices._dtype not in (dt.int64, dt.int32):
        raise RuntimeError("Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
                           f"Int; but got torch.{scalar_type_name(indices._dtype)}Tensor instead (while checking "
                           f"arguments for {name})")


@operator("embedding", fake=fake_embedding, jvp=LINEAR, spaces=("",), out=False, vjp={
    "weight": lambda grad, weight_shape, indices, padding_idx, scale_grad_by_freq: grad.embedding_dense_backward(
        indices, weight_shape[0], padding_idx, scale_grad_by_freq)})
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """Rows of `weight` (rows, columns), one per entry of `indices` (int64 or int32, any shape)."""
    if weight.ndim != 2 or sparse or indices.dtype not in (np.int64, np.int32):
        raise TypeError("embedding: the arguments do not fit")
    if rows.first_outside(indices, weight.shape[0]) is not None:
        raise IndexError("index out of range in self")
    return weight.take(indices, 0)


def fake_embedding_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq):
    return Fake((num_weights, grad._shape[-1]), grad._dtype)


@operator("embedding_dense_backward", fake=fake_embedding_backward, jvp=LINEAR, spaces=("Tensor",), out=False, vjp={
    "grad": lambda grad, indices, padding_idx: without_padding(embedding(grad, indices), indices, padding_idx)})
def embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq):
    """The gradients added up per row; the padding row gets none. By frequency: the mean instead of the sum."""
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
        sparse: must be False; there are no sparse gradients here.
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
    """Scale the rows that `input` names and whose norm exceeds `max_norm` down to it, in place and unrecorded."""
    named = np.unique(array_of(input))
    if rows.first_outside(named, weight._shape[0]) is not None:
        raise IndexError("index out of range in self")
    found = array_of(weight)[named]
    norms = np.linalg.norm(found, ord=norm_type, axis=1)
    scale = np.where(norms > max_norm, max_norm / (norms + 1e-7), 1).astype(found.dtype)
    weight.detach().index_copy_(0, from_array(named), from_array(found * scale[:, None]))


publish("embedding", nn_embedding, ("nn.functional",))
