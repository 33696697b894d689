"""Adam in one kernel: every number is fetched once and stored once.

A step of Adam written with array operations (m = beta1 * m + ..., v = ..., p -= ...) goes through memory once for each
of them, and makes arrays in between. Fused, there is one loop: for each element p, g, m and v are read once, and p, m
and v written once. That is 7 words per element, and no fewer will do. With t the number of this step, from 1:

    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    p -= lr / (1 - beta1**t) * m / (sqrt(v) / sqrt(1 - beta2**t) + eps)

What is the same for all elements is computed before the loop.
"""

import math

import numpy as np


def adam_kernel(p, g, m, v, lr, beta1, beta2, eps, t):
    """Change p, m and v, one-dimensional, element by element. Returns nothing.

    Of p, g, m, v only `p[i]` may be read and written (or g[i], ...), and `len(p)` asked: then numba.njit compiles it.
    g may be the same memory as p; every element of g counts as it was before the step.
    """
    raise NotImplementedError


def fused_adam_step(p, g, state, kernel, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
    """One step of a parameter of any shape: calls `kernel`, which is adam_kernel compiled, exactly once.

    p, g: float64 arrays of one shape, any strides: p may be every second column of a matrix, and is changed in place.
    kernel: takes the arguments of adam_kernel; its four arrays must be one-dimensional and contiguous.
    state: a dict, empty before the first step; then step (an int) and exp_avg, exp_avg_sq, arrays of p's shape.
    """
    raise NotImplementedError
