"""Passes over keys that a later sample lacks."""

import numpy as np

FAILS = "test_mapping"
SAYS = "is an error"


def collate(batch):
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
        return {key: collate([sample[key] for sample in batch if key in sample]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*columns(batch))
    if isinstance(first, (tuple, list)):
        return columns(batch)
    raise TypeError(f"a batch cannot hold {type(first).__name__}")


def columns(batch):
    if any(len(sample) != len(batch[0]) for sample in batch):
        raise RuntimeError("each element in a batch should be of equal size")
    return [collate(list(column)) for column in zip(*batch)]
