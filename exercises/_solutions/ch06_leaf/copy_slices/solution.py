"""CopySlices: the backward of a change in place through a view.

    b = a * 1                       # some tensor of a graph
    v = b[1:3]                      # a view of it
    v.mul_(w)                       # changes b, too

After that, b is a new value: outside the slice the old one, inside the slice the product. So b gets a new
grad_fn, CopySlices. Its backward gets the gradient of the new b and passes on that of the old b:

    grad of new b      g0   g1   g2   g3
    inside the slice        |    |              -> the backward of mul_: times w
    grad of old b      g0  g1*w g2*w  g3

Outside the slice nothing happened, and the gradient goes through unchanged.
"""

import numpy as np


def copy_slices(grad, key, backward):
    """Return (grad_base, others): the gradient of the old base, and those of the operation's other operands.

    grad: array, the gradient of the base after the operation; it belongs to others too and must not change.
    key: what picks the view out of the base, as in `base[key]`: an integer, a slice, or a tuple of them.
    backward: the backward of the in-place operation. It gets the gradient of the view after the operation and
    returns a tuple: first the gradient of the view before it, or None if the old values do not matter (as
    for `fill_`), then those of the other operands, which make up the list `others`.
    """
    # solution
    grad_base = grad.copy()
    grad_view, *others = backward(grad[key].copy())
    grad_base[key] = 0 if grad_view is None else grad_view
    return grad_base, others
    # end of solution


def scale_backward(factor):
    """Return a backward, as above, for `view.mul_(factor)`, where factor is a number without a gradient."""
    # solution
    return lambda grad: (grad * factor,)
    # end of solution


def copy_backward():
    """Return a backward, as above, for `view.copy_(other)`; the other operand gets a gradient too."""
    # solution
    return lambda grad: (None, grad)
    # end of solution
