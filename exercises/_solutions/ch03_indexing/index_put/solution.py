"""index_put_: writing through an index, with accumulate.

    target[rows] = values            the values replace; which of two writes to a row stays is not defined
    target[rows] += values           reads, adds, writes back: of two writes to a row one stays
    target.index_put_((rows,), values, accumulate=True)        every write adds

A mask of bools is the same as the list of its places. It covers the *leading* dimensions of the target:

    target (3, 4), mask (3,)         whole rows
    target (3, 4), mask (3, 4)       single elements
    target (3, 4), mask (4,)         an error: 4 does not fit dimension 0
"""

import numpy as np


def index_put(target, rows, values, accumulate=False):
    """Write `values` to rows of `target`, in place, and return `target`.

    target: array of shape (N, ...). rows: int64 array of any shape; negative ones count from the end. values:
    array that broadcasts to rows.shape + target.shape[1:]. accumulate: add instead of replacing; without
    it, the last of several writes to a row stays. Raises IndexError for a row that is not there, before
    anything was written.
    """
    # solution
    if rows.size and not (-len(target) <= rows.min() and rows.max() < len(target)):
        raise IndexError(f"index out of bounds for dimension 0 of size {len(target)}")
    values = np.broadcast_to(values, rows.shape + target.shape[1:])
    for place in np.ndindex(rows.shape):
        _write(target, rows[place], values[place], accumulate)
    return target
    # end of solution


def mask_put(target, mask, values, accumulate=False):
    """Write `values` to the places where `mask` is True, in place, and return `target`.

    target: array. mask: bool array whose shape is that of the leading dimensions of `target`. values: array
    that broadcasts to (number of True, *the other dimensions of target). accumulate: as above. Raises
    IndexError for a mask that does not fit.
    """
    # solution
    if mask.shape != target.shape[: mask.ndim]:
        raise IndexError(f"the shape of the mask {mask.shape} does not match the tensor {target.shape}")
    places = [tuple(place) for place in np.argwhere(mask)]
    values = np.broadcast_to(values, (len(places), *target.shape[mask.ndim :]))
    for place, value in zip(places, values):
        _write(target, place, value, accumulate)
    return target
    # end of solution


# solution
def _write(target, place, value, accumulate):
    target[place] = target[place] + value if accumulate else value


# end of solution
