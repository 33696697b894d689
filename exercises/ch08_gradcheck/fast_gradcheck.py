"""Fast gradcheck: one random direction instead of all elements.

The slow check moves each of n inputs, and asks for each of m outputs: 2n runs of f and m of the backward.
The fast one compares a single number. With the Jacobian J (m x n), a direction u of the inputs and a
direction v of the outputs:

    forward      J u   is nearly (f(x + eps u) - f(x - eps u)) / (2 eps)     two runs of f
    backward     v J   is what the backward gives for the gradient v         one run

Both lead to v J u. If J is wrong somewhere, a random u and v show it with near certainty; all ones would not:
there, errors of opposite sign cancel. u and v are not negative, so that their own terms do not cancel either.
"""

import numpy as np


def unit(size, rng):
    """Return a random direction: a vector of `size` numbers that are not negative, and whose norm is 1.

    size: at least 1. rng: np.random.Generator, for numbers that differ from call to call.
    """
    raise NotImplementedError


def forward_number(f, x, u, v, eps=1e-6):
    """Return v J u by central differences, as a float. f: vector to vector; x: float64, not changed."""
    raise NotImplementedError


def backward_number(backward, x, u, v):
    """Return v J u by the backward, as a float. backward: (x, grad of the outputs) -> grad of the inputs."""
    raise NotImplementedError


def fast_gradcheck(f, backward, x, rng, eps=1e-6, atol=1e-5, rtol=1e-3):
    """Return whether the backward agrees with f at x in one random direction, as a bool.

    The numbers a (backward) and n (differences) agree when |a - n| <= atol * sum(u) * sum(v) + rtol * |n|: a
    direction adds up many elements, and so many small errors.
    """
    raise NotImplementedError
