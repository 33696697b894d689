"""Finds out that a row is missing when it comes to it."""

import numpy as np

FAILS = "test_errors"
SAYS = "row 0 is not written either"


def index_put(target, rows, values, accumulate=False):
    values = np.broadcast_to(values, rows.shape + target.shape[1:])
    for place in np.ndindex(rows.shape):
        row = rows[place]
        target[row] = target[row] + values[place] if accumulate else values[place]
    return target


def mask_put(target, mask, values, accumulate=False):
    if mask.shape != target.shape[: mask.ndim]:
        raise IndexError("mask")
    places = [tuple(place) for place in np.argwhere(mask)]
    values = np.broadcast_to(values, (len(places), *target.shape[mask.ndim :]))
    for place, value in zip(places, values):
        target[place] = target[place] + value if accumulate else value
    return target
