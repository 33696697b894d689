"""Broadcasts the mask to the target, so it is matched from the right."""

import numpy as np

FAILS = "test_mask_leading"
SAYS = "leading dimensions"


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
    if mask.shape == target.shape[-mask.ndim :]:
        mask = np.broadcast_to(mask, target.shape)
    places = [tuple(place) for place in np.argwhere(mask)]
    values = np.broadcast_to(values, (len(places), *target.shape[mask.ndim :]))
    for place, value in zip(places, values):
        target[place] = target[place] + value if accumulate else value
    return target
