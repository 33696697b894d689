"""Adds to target[mask], which is a copy."""

import numpy as np

FAILS = "test_in_place"
SAYS = "target[mask] is a copy"


def index_put(target, rows, values, accumulate=False):
    if rows.size and not (-len(target) <= rows.min() and rows.max() < len(target)):
        raise IndexError("out of bounds")
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
    if accumulate:
        part = target[mask]
        part += values
        return target
    for place, value in zip(places, values):
        target[place] = value
    return target
