"""From samples to a batch: default_collate, on NumPy arrays.

    arrays                  side by side: np.stack
    float                   a float64 array: that is the precision of Python's floats
    bool, int               a bool array, an int64 array
    str, bytes              the list as it is (PyTorch leaves a column of text as the tuple that zip made)
    dict                    a dict with the keys of the FIRST sample, each collated
    named tuple             the same type, each field collated
    tuple, list             a LIST of columns: [(1, "a"), (2, "b")] gives [array([1, 2]), ["a", "b"]]

Samples of unequal length: RuntimeError. Anything else, None for example: TypeError.
"""

import numpy as np


def collate(batch):
    """The batch of a list of samples. What the first sample is decides."""
    raise NotImplementedError
