"""Results with names: what operators with several outputs return (torch.return_types)."""
import functools
from collections import namedtuple


@functools.cache
def return_type(name, fields):
    """The class of an operator's results: a named tuple that prints as PyTorch's.

    Operators whose results PyTorch leaves nameless (`result0`, ...) return a plain tuple.
    """
    if fields[0] == "result0":
        return lambda *results: results
    base = namedtuple(name, fields)
    return type(name, (base,), {"__slots__": (), "__repr__": shown, "__module__": "torch.return_types"})


def shown(results):
    """The fields, one a line."""
    lines = [f"{field}={value!r}" for field, value in zip(results._fields, results)]
    return f"torch.return_types.{type(results).__name__}(\n" + ",\n".join(lines) + ")"
