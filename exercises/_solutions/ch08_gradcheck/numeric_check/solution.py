"""gradcheck: compare a backward with finite differences.

The Jacobian of f at x says how each output moves when one input moves: J[i, j] = d f_i / d x_j. It can be
measured, without any calculus, by moving one input a little to both sides (the *central* difference):

    J[:, j] = (f(x + eps e_j) - f(x - eps e_j)) / (2 eps)

With eps = 1e-6 in float64 the error of this is about 1e-9; with only one side, f(x + eps) - f(x), it is
about 1e-6, and a larger eps makes the curvature of f show. gradcheck compares every entry with what the
backward says.
"""

import numpy as np


def numerical_jacobian(f, x, eps=1e-6):
    """Return the Jacobian of f at x by central differences, a float64 array of shape (outputs, inputs).

    f: takes and returns a 1-dim float64 array, which may be the very one that it got. x: 1-dim float64 array;
    it must be exactly the same after the call.
    """
    # solution
    columns = []
    for position in range(x.size):
        step = np.zeros_like(x)
        step[position] = eps
        columns.append((f(x + step) - f(x - step)) / (2 * eps))
    return np.stack(columns, axis=1)
    # end of solution


def gradcheck(f, backward, x, atol=1e-5, rtol=1e-3):
    """Return True when the backward agrees with the numerical Jacobian in every entry, else False.

    f, x: as above. backward: takes (x, grad_output) and returns the gradient of sum(f(x) * grad_output) for
    x, an array like x. Row i of the Jacobian is what it returns for a grad_output that is 1 at position i
    and 0 elsewhere. Entries a and n agree when |a - n| <= atol + rtol * |n|. Every row is asked for twice:
    a backward that answers the same question differently (here: not exactly equal) fails.
    """
    # solution
    numerical = numerical_jacobian(f, x)
    ones = np.eye(numerical.shape[0])
    first = np.stack([backward(x, grad) for grad in ones])
    second = np.stack([backward(x, grad) for grad in ones])
    agrees = np.abs(first - numerical) <= atol + rtol * np.abs(numerical)
    return bool(agrees.all() and np.array_equal(first, second))
    # end of solution
