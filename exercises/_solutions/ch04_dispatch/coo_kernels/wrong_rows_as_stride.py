"""Numbers the places by the number of rows, so that different places collide."""

import numpy as np

FAILS = "test_places"
SAYS = "different places"


def coalesce(indices, values, sizes):
    places = indices[0] * sizes[0] + indices[1]
    kept, group = np.unique(places, return_inverse=True)
    sums = np.zeros(kept.size, values.dtype)
    np.add.at(sums, group, values)
    return np.stack(np.divmod(kept, sizes[0])), sums


def to_dense(indices, values, sizes):
    dense = np.zeros(sizes, values.dtype)
    np.add.at(dense, (indices[0], indices[1]), values)
    return dense


def multiply(indices, values, sizes, matrix):
    product = np.zeros((sizes[0], matrix.shape[1]), values.dtype)
    np.add.at(product, indices[0], values[:, None] * matrix[indices[1]])
    return product
