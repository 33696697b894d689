"""Tensors in what a call was given or gave back."""
from ..tensor import Tensor


def tensors_in(value):
    """The tensors in nested lists, tuples, dictionaries and dataclasses."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif hasattr(value, "__dataclass_fields__"):
        yield from tensors_in([getattr(value, name) for name in value.__dataclass_fields__])
