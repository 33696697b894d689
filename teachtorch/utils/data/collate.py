"""From a list of samples to a batch."""
import collections.abc

import numpy as np

from ...core import dtype as dt
from ...ops.creation import tensor
from ...ops.declare import exports
from ...ops.interchange import from_numpy
from ...tensor import Tensor

stack = exports[""]["stack"]
ERROR = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def default_collate(batch):
    """Samples side by side: tensors and arrays are stacked, numbers become tensors (floats float64), strings stay a
    list; mappings, named tuples, tuples and lists are collated field by field.

    TypeError for other types; RuntimeError for sequences of unequal length.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(batch, 0)
    if isinstance(first, (np.ndarray, np.generic)) and not isinstance(first, (np.str_, np.bytes_)):
        return collate_arrays(batch)
    if isinstance(first, float):
        return tensor(batch, dtype=dt.float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, collections.abc.Mapping):
        return collate_mappings(batch)
    if isinstance(first, collections.abc.Sequence):
        return collate_sequences(batch)
    raise TypeError(ERROR.format(type(first)))


def collate_arrays(batch):
    """Arrays are stacked; NumPy scalars become a tensor of their dtype."""
    first = batch[0]
    if first.dtype.kind in "SUO":
        raise TypeError(ERROR.format(first.dtype))
    if first.shape == ():
        return from_numpy(np.asarray(batch, first.dtype))
    return stack([from_numpy(b) for b in batch], 0)


def collate_mappings(batch):
    """By the keys of the first sample."""
    first = batch[0]
    collated = {key: default_collate([sample[key] for sample in batch]) for key in first}
    try:
        return type(first)(collated)
    except TypeError:            # the type cannot be made from a dict
        return collated


def collate_sequences(batch):
    """Column by column: named tuples stay what they are, tuples become lists."""
    first = batch[0]
    if any(len(sample) != len(first) for sample in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    columns = [default_collate(column) for column in zip(*batch)]
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*columns)
    return columns


def default_convert(data):
    """Without batching: arrays become tensors, everything else stays, inside mappings and sequences too."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in "SUO" else from_numpy(np.asarray(data))
    if isinstance(data, collections.abc.Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, (tuple, list)):
        return [default_convert(value) for value in data]
    return data
