"""A tensor's values as a NumPy array, which `equal` and `close` can look at."""

from __future__ import annotations

import sys

import numpy as np

_copy = np.array


def array_of(value):
    """A copy of a tensor's values as an array; what is no tensor is left as it is, for `equal` to name."""
    tensor = sys.modules["teachtorch"].Tensor
    return _copy(tensor.numpy(tensor.detach(value))) if isinstance(value, tensor) else value
