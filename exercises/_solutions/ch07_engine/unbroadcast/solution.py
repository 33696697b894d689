"""Undo a broadcast, in the backward.

When y = a + b broadcasts a of shape (3, 1) to (2, 3, 4), each element of a is used many times. Each use
sends a gradient back, and gradients of several uses add up. So the gradient of y, of shape (2, 3, 4), is
summed down to (3, 1).
"""

import numpy as np


def unbroadcast(grad, shape):
    """Return `grad` summed down to `shape`, an array of that shape and of grad.dtype.

    grad: NumPy array whose shape is `shape` broadcast to something larger: dimensions may have been added
    in front, and dimensions of size 1 may have grown. shape: tuple of ints, the shape of the operand before
    the broadcast.
    """
    # solution
    added = grad.ndim - len(shape)
    grown = [added + dim for dim, size in enumerate(shape) if size == 1]
    total = np.sum(grad, axis=(*range(added), *grown), keepdims=True)
    return total.reshape(shape).astype(grad.dtype)
    # end of solution
