"""An entry whose sum is zero is dropped."""

import numpy as np

FAILS = "test_zero"
SAYS = "is still an entry"


def coalesce(indices, values, sizes):
    places = indices[0] * sizes[1] + indices[1]
    kept, group = np.unique(places, return_inverse=True)
    sums = np.zeros(kept.size, values.dtype)
    np.add.at(sums, group, values)
    kept, sums = kept[sums != 0], sums[sums != 0]
    return np.stack(np.divmod(kept, sizes[1])), sums


def to_dense(indices, values, sizes):
    dense = np.zeros(sizes, values.dtype)
    np.add.at(dense, (indices[0], indices[1]), values)
    return dense


def multiply(indices, values, sizes, matrix):
    product = np.zeros((sizes[0], matrix.shape[1]), values.dtype)
    np.add.at(product, indices[0], values[:, None] * matrix[indices[1]])
    return product
