"""unfold: sliding windows without copying, and their gradient.

x.unfold(dim, size, step) cuts dimension `dim` into windows of `size` elements, each `step` further than the
one before. Where the dimension was, there is now one index for each window; the place inside the window is
a new dimension at the very end. Nothing is copied: both are strides over the old storage.

    x = 0 1 2 3 4 5 6    unfold(0, 3, 2)     0 1 2
                                             2 3 4
                                             4 5 6
"""

import numpy as np


def unfold(sizes, strides, dim, size, step):
    """Return (sizes, strides) of x.unfold(dim, size, step), two tuples of ints.

    sizes, strides: of x. dim: an int, negative ones count from the end. size: elements of a window, at least
    1. step: at least 1. Elements at the end that fill no window are left out. Raises RuntimeError when a
    window is longer than the dimension, or the step is not positive.
    """
    raise NotImplementedError


def unfold_backward(grad, length, step):
    """Return the gradient of the vector x in x.unfold(0, size, step), an array of shape (length,).

    grad: the gradient of the result, of shape (windows, size). length: elements of x. step: as above.
    """
    raise NotImplementedError
