"""Batches in pinned memory (DataLoader's `pin_memory=True`): from it a copy to an accelerator leaves the host free."""
from collections.abc import Mapping, Sequence

from ...tensor import Tensor


def pinned(data):
    """The same batch with every tensor of it in pinned memory.

    Looks into mappings, sequences and named tuples, and asks objects that have a `pin_memory` method; others stay.
    """
    if isinstance(data, Tensor) or not isinstance(data, (str, bytes)) and hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        return in_kind(data, {key: pinned(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*[pinned(value) for value in data])
    return in_kind(data, [pinned(value) for value in data]) if isinstance(data, Sequence) else data


def in_kind(data, values):
    """`values` as an object of the batch's own class, if that can be made of them."""
    try:
        return type(data)(values)
    except TypeError:
        return values
