"""gradcheck's report: which output, which input, which element, by how much.

A gradcheck that says no is of little use: you want to know where. For each input of a function there are two
Jacobians, matrices with one row for each element of the output and one column for each element of that input:
the analytical one, of the backward, and the numerical one, of differences. They agree in an element when

    |analytical - numerical| <= atol + rtol * |numerical|

The numerical one is the measure. Anything that is not a number (nan) agrees with nothing.
"""

import numpy as np


def agree(analytical, numerical, atol=1e-5, rtol=1e-3):
    """Return an array of bools: whether the two agree in each element. Both: arrays of one shape."""
    # solution
    return np.abs(analytical - numerical) <= atol + rtol * np.abs(numerical)
    # end of solution


def worst(analytical, numerical, atol=1e-5, rtol=1e-3):
    """Return (output element, input element, difference) where they disagree most, or None if they agree.

    The difference is |analytical - numerical|, a float. An element with nan is worse than any number, and
    then the difference is inf. Among equals the first one counts, row by row.
    """
    # solution
    wrong = ~agree(analytical, numerical, atol, rtol)
    if not wrong.any():
        return None
    difference = np.where(wrong, np.abs(analytical - numerical), -1.0)
    difference[np.isnan(difference)] = np.inf
    row, column = np.unravel_index(np.argmax(difference), difference.shape)
    return int(row), int(column), float(difference[row, column])
    # end of solution


def report(analyticals, numericals, atol=1e-5, rtol=1e-3):
    """Return a list: (input, output element, input element, difference) for each input with a wrong Jacobian.

    analyticals, numericals: lists of matrices, one for each input. An input without elements, whose matrices
    have no columns, is right.
    """
    # solution
    pairs = enumerate(zip(analyticals, numericals))
    found = [(number, worst(ours, theirs, atol, rtol)) for number, (ours, theirs) in pairs]
    return [(number, *place) for number, place in found if place is not None]
    # end of solution
