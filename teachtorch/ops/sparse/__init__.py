"""Sparse tensors (layout torch.sparse_coo): the second layout, beside strided.

    Entries (tensor.py)        indices and values, in the place of a storage
    key SparseCPU              a tensor carries it in the place of CPU; its kernels are registered here
    kernels/sparse.py          the arithmetic on arrays
    operators without one      say so: "Could not run 'aten::exp' with arguments from the 'SparseCPU' backend"

The kernels work on the entries alone, and call the kernels of strided tensors for the values: `-x` negates them. Above
the layout nothing changes: the Autograd key is the same, a gradient may be sparse, and formulas are made of operators.

    making      sparse_coo_tensor and its checks          reading   indices, values, coalesce, is_coalesced
    convert     to_dense, to_sparse, sparse_mask, to      pointwise add, mul, div, and what keeps zeros zero
    matmul      sparse @ dense, dense @ sparse            shape     transpose, select, cat
    reduce      sums, norm                                softmax   over the entries alone
    lookup      the gradient of an embedding table
https://pytorch.org/docs/stable/sparse.html
"""
from . import (  # noqa: F401
    convert,
    lookup,
    making,
    matmul,
    pointwise,
    reading,
    reduce,
    refuse,
    shape,
    softmax,
)
