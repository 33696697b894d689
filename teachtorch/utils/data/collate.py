"""From a list of samples to a batch."""
import collections.abc
import copy

import numpy as np

from ...core import dtype as dt
from ...ops.declare import exports
from ...tensor import Tensor

from_numpy, stack, tensor = (exports[""][name] for name in ("from_numpy", "stack", "tensor"))
ERROR = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
TEXT_OR_OBJECT = "SUO"         # kinds of NumPy dtypes that cannot become tensors


# ---- what one type of sample becomes ----------------------------------------------------------------------------

def collate_tensors(batch, *, collate_fn_map=None):
    """Side by side, along a new first dimension."""
    return stack(batch, 0)


def collate_arrays(batch, *, collate_fn_map=None):
    """As tensors, side by side."""
    if batch[0].dtype.kind in TEXT_OR_OBJECT:
        raise TypeError(ERROR.format(batch[0].dtype))
    return collate([from_numpy(np.asarray(b)) for b in batch], collate_fn_map=collate_fn_map)


def collate_numpy_numbers(batch, *, collate_fn_map=None):
    """A tensor of their dtype."""
    return from_numpy(np.asarray(batch))


def collate_floats(batch, *, collate_fn_map=None):
    """A float64 tensor: Python's floats have that precision."""
    return tensor(batch, dtype=dt.float64)


def collate_ints(batch, *, collate_fn_map=None):
    """An int64 (or bool) tensor."""
    return tensor(batch)


def collate_text(batch, *, collate_fn_map=None):
    """The list, as it is."""
    return batch


default_collate_fn_map = {
    Tensor: collate_tensors, np.ndarray: collate_arrays, (np.bool_, np.number): collate_numpy_numbers,
    float: collate_floats, int: collate_ints, str: collate_text, bytes: collate_text}


# ---- collating --------------------------------------------------------------------------------------------------

def default_collate(batch):
    """Samples side by side: tensors and arrays are stacked, numbers become tensors (floats float64), strings stay a
    list; mappings, named tuples, tuples and lists are collated field by field.

    TypeError for other types; RuntimeError for sequences of unequal length.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch, *, collate_fn_map=None):
    """Collate with a function per type of sample, `function(batch, collate_fn_map=...)`; containers field by field."""
    first = batch[0]
    function = function_for(first, collate_fn_map or {})
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)

    def columns(values):
        return collate(values, collate_fn_map=collate_fn_map)
    if isinstance(first, collections.abc.Mapping):
        return like_mapping(first, {key: columns([sample[key] for sample in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*map(columns, zip(*batch)))
    if isinstance(first, collections.abc.Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return like_sequence(first, list(map(columns, zip(*batch))))
    raise TypeError(ERROR.format(type(first)))


def function_for(sample, collate_fn_map):
    """The function for the sample's very type, else that of the first type it is an instance of."""
    if type(sample) in collate_fn_map:
        return collate_fn_map[type(sample)]
    return next((f for kind, f in collate_fn_map.items() if isinstance(sample, kind)), None)


def default_convert(data):
    """Without batching: arrays become tensors, everything else stays, inside mappings and sequences too."""
    if isinstance(data, (np.ndarray, np.generic)):
        is_tensor_like = not isinstance(data, (np.str_, np.bytes_)) and data.dtype.kind not in TEXT_OR_OBJECT
        return from_numpy(np.asarray(data)) if is_tensor_like else data
    if isinstance(data, collections.abc.Mapping):
        return like_mapping(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return like_sequence(data, list(map(default_convert, data)))
    return data


def like_mapping(example, values):
    """The values in a mapping of the example's type, or in a dict if such a one cannot be made."""
    try:
        if isinstance(example, collections.abc.MutableMapping):
            made = copy.copy(example)
            made.update(values)
            return made
        return type(example)(values)
    except TypeError:
        return values


def like_sequence(example, values):
    """The values in a sequence of the example's type; of a tuple, or if such a one cannot be made, in a list."""
    if isinstance(example, tuple):
        return values
    try:
        if isinstance(example, collections.abc.MutableSequence):
            made = copy.copy(example)
            for i, value in enumerate(values):
                made[i] = value
            return made
        return type(example)(values)
    except TypeError:
        return values
