"""Places in the order in which they first occur."""

import numpy as np

FAILS = "test_order"
SAYS = "row by row"


def coalesce(indices, values, sizes):
    places = indices[0] * sizes[1] + indices[1]
    kept = np.array(list(dict.fromkeys(places.tolist())), np.int64)
    group = np.array([kept.tolist().index(place) for place in places.tolist()], np.int64)
    sums = np.zeros(kept.size, values.dtype)
    np.add.at(sums, group, values)
    return np.stack(np.divmod(kept, sizes[1])), sums


def to_dense(indices, values, sizes):
    dense = np.zeros(sizes, values.dtype)
    np.add.at(dense, (indices[0], indices[1]), values)
    return dense


def multiply(indices, values, sizes, matrix):
    product = np.zeros((sizes[0], matrix.shape[1]), values.dtype)
    np.add.at(product, indices[0], values[:, None] * matrix[indices[1]])
    return product
