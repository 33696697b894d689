"""Reports with the default tolerances."""

import numpy as np

FAILS = "test_report"
SAYS = "the one that was asked for"


def agree(analytical, numerical, atol=1e-5, rtol=1e-3):
    return np.abs(analytical - numerical) <= atol + rtol * np.abs(numerical)


def worst(analytical, numerical, atol=1e-5, rtol=1e-3):
    wrong = ~agree(analytical, numerical, atol, rtol)
    if not wrong.any():
        return None
    difference = np.where(wrong, np.abs(analytical - numerical), -1.0)
    difference[np.isnan(difference)] = np.inf
    row, column = np.unravel_index(np.argmax(difference), difference.shape)
    return int(row), int(column), float(difference[row, column])


def report(analyticals, numericals, atol=1e-5, rtol=1e-3):
    pairs = enumerate(zip(analyticals, numericals))
    found = [(number, worst(ours, theirs)) for number, (ours, theirs) in pairs]
    return [(number, *place) for number, place in found if place is not None]
