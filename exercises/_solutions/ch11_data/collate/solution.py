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
    # solution
    first = batch[0]
    if isinstance(first, np.ndarray):
        return np.stack(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, bool):
        return np.array(batch, dtype=bool)
    if isinstance(first, int):
        return np.array(batch, dtype=np.int64)
    if isinstance(first, float):
        return np.array(batch, dtype=np.float64)
    if isinstance(first, dict):
        return {key: collate([sample[key] for sample in batch]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*columns(batch))
    if isinstance(first, (tuple, list)):
        return columns(batch)
    raise TypeError(f"a batch cannot hold {type(first).__name__}")
    # end of solution


# solution
def columns(batch):
    if any(len(sample) != len(batch[0]) for sample in batch):
        raise RuntimeError("each element in a batch should be of equal size")
    return [collate(list(column)) for column in zip(*batch)]


# end of solution
