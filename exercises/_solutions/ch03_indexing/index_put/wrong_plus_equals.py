"""Reads all rows, adds, and writes them back."""

import numpy as np

FAILS = "test_duplicates"
SAYS = "row 0 is written twice"


def index_put(target, rows, values, accumulate=False):
    if rows.size and not (-len(target) <= rows.min() and rows.max() < len(target)):
        raise IndexError("out of bounds")
    values = np.broadcast_to(values, rows.shape + target.shape[1:])
    if accumulate:
        target[rows] += values
    else:
        target[rows] = values
    return target


def mask_put(target, mask, values, accumulate=False):
    if mask.shape != target.shape[: mask.ndim]:
        raise IndexError("mask")
    places = [tuple(place) for place in np.argwhere(mask)]
    values = np.broadcast_to(values, (len(places), *target.shape[mask.ndim :]))
    for place, value in zip(places, values):
        target[place] = target[place] + value if accumulate else value
    return target
