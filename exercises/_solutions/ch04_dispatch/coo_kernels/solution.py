"""A second layout: kernels that see only the entries of a sparse matrix.

A matrix in COO layout is two arrays: `indices`, of shape (2, entries), and `values`, of shape (entries,). Column k of
`indices` is the place of values[k]; a place that occurs more than once stands for the sum. Everything else is zero.
"""

import numpy as np


def coalesce(indices, values, sizes):
    """Return (indices, values) in which every place occurs once, in row-major order; values at one place are added.

    indices: int64, (2, entries). values: (entries,). sizes: (rows, columns). The arguments stay as they are. An entry whose
    value is zero, or becomes zero, stays an entry.
    """
    # solution
    places = indices[0] * sizes[1] + indices[1]
    kept, group = np.unique(places, return_inverse=True)
    sums = np.zeros(kept.size, values.dtype)
    np.add.at(sums, group, values)
    return np.stack(np.divmod(kept, sizes[1])), sums
    # end of solution


def to_dense(indices, values, sizes):
    """Return the array of shape `sizes`, of the values' dtype. The entries need not be coalesced."""
    # solution
    dense = np.zeros(sizes, values.dtype)
    np.add.at(dense, (indices[0], indices[1]), values)
    return dense
    # end of solution


def multiply(indices, values, sizes, matrix):
    """Return the product with a dense matrix (columns, p) as an array (rows, p), without making the dense factor."""
    # solution
    product = np.zeros((sizes[0], matrix.shape[1]), values.dtype)
    np.add.at(product, indices[0], values[:, None] * matrix[indices[1]])
    return product
    # end of solution
