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
    raise NotImplementedError


def to_dense(indices, values, sizes):
    """Return the array of shape `sizes`, of the values' dtype. The entries need not be coalesced."""
    raise NotImplementedError


def multiply(indices, values, sizes, matrix):
    """Return the product with a dense matrix (columns, p) as an array (rows, p), without making the dense factor."""
    raise NotImplementedError
