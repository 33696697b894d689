"""Where there is no derivative: ties, kinks, zeros, and 0 times infinity.

    max(x)          [3, 5, 5]     two elements are the maximum     the gradient is split evenly: 0, 1/2, 1/2
    abs(x)          at 0          a kink                           0, in the middle of -1 and 1
    clamp(x)        outside       the output does not move         0
    prod(x)         [2, 0, 3]     out / x divides by zero          [0, 6, 0]: the product of the others
    where(x > 0, log(x), 0)       at 0                             0 * inf is nan, although log was not taken

The last one happens because `where` sends the gradient 0 into the branch that was not taken, and the
backward of log multiplies it with 1/0. So what goes into log must be harmless where it is not used.
"""

import numpy as np
import teachtorch as torch


def max_backward(grad, x):
    """The gradient of x for y = max over all elements. grad: a float. x: array. Returns an array."""
    raise NotImplementedError


def abs_backward(grad, x):
    """The gradient of x for y = abs(x). Both: arrays of one shape."""
    raise NotImplementedError


def clamp_backward(grad, x, low, high):
    """The gradient of x for y = clamp(x, low, high). grad, x: arrays. low, high: floats; on them anything."""
    raise NotImplementedError


def prod_backward(grad, x):
    """The gradient of x for y = the product of x, exact with zeros. grad: a float. x: 1-D array."""
    raise NotImplementedError


def log_or_zero(x):
    """Return log(x) where x > 0 and 0 elsewhere, with gradients 1/x and 0. x: a tensor, of teachtorch."""
    raise NotImplementedError
