"""Samples for teachtorch/ops/polynomials.py."""
import numpy as np

from tests.samples import ints, sample, x
from tests.samples.pointwise import pairs

CHEBYSHEV = [f"{kind}chebyshev_polynomial_{letter}" for kind in ("", "shifted_") for letter in "tuvw"]
OTHERS = ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]


def degrees(*shape, seed=0):
    """Whole numbers as float64, of which some are too small to be degrees and some use another formula."""
    return np.asarray(ints(*shape, low=-1, high=14, seed=seed), np.float64)


SAMPLES = {f"special_{name}": [*pairs(x, degrees), sample(0.3, degrees(3)), sample(x(3), ints(3)), sample(ints(3), 2)]
           for name in CHEBYSHEV + OTHERS}
