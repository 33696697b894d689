"""The gradient of an embedding table, as a sparse tensor: one entry for every row that was looked up."""
from ...core import dtype as dt
from ..declare import composite
from .making import with_dims_and_tensors


@composite("embedding_sparse_backward", spaces=())
def embedding_sparse_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq):
    """A hybrid tensor (num_weights, columns): the gradient's rows, at the indices. Rows that repeat are not added up.

    `grad` (..., columns), `indices` (...). Its memory is of the size of `grad`, however large the table is.
    """
    if scale_grad_by_freq:
        raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
    columns = grad._shape[-1]
    indices, values = indices.reshape(-1), grad.reshape(-1, columns)
    if padding_idx >= 0:
        kept = (indices != padding_idx).nonzero().reshape(-1)
        indices, values = indices.index_select(0, kept), values.index_select(0, kept)
    return with_dims_and_tensors((num_weights, columns), indices.to(dt.int64).unsqueeze(0), values, False)
