"""A factory's call as PyTorch's operators are called: what a TorchDispatchMode sees of `torch.ones(2, 3)`.

    torch.ones(2, 3)   →   aten.ones.default([2, 3], device=cpu, pin_memory=False)

Our factories have one operator each, called with the device first and the dtype last, already decided. `dtype` is
among the keywords unless it is the one that the factory takes by itself; PyTorch names it if the caller did.
"""
from ..core import dtype as dt
from ..core import promotion, settings
from .namespaces import namespace

INTEGERS = frozenset(("randint", "randperm", "tril_indices", "triu_indices"))


def as_called(op, device, args):
    """(overload, positional arguments, keywords) of a factory's call."""
    named = dict(zip(op.info.signature.names, args))
    dtype, generator = named.pop("dtype"), named.pop("generator", None)
    keywords = {} if dtype is usual_dtype(op.name, named) else {"dtype": dtype}
    keywords.update({"device": device, "pin_memory": False})
    if generator is not None:
        keywords = {"generator": generator, **keywords}
    overload, positional = FORMS.get(op.name, plain)(*named.values())
    packet = getattr(namespace("aten"), op.name.partition(".")[0])
    return packet.overload(op, overload), positional, keywords


def like_as_called(op, args):
    """(positional arguments, keywords) of `zeros_like(self, ...)` and `self.new_zeros(size, ...)`."""
    named = dict(zip(op.info.signature.names, args))
    keywords = {name: named.pop(name, None) for name in ("dtype", "device", "memory_format")}
    positional = [named.pop("self"), *named.pop("args", ()), *named.values()]
    keywords = {name: value for name, value in keywords.items() if value is not None}
    return plain(*positional)[1], {**keywords, "pin_memory": False}


def usual_dtype(name, named):
    """The dtype that a factory takes unless told."""
    if name in INTEGERS:
        return dt.int64
    if name == "arange" and all([isinstance(bound, int) for bound in named.values()]):
        return dt.int64
    if name == "full":
        return promotion.dtype_of_number(named["fill_value"])
    return settings.default_dtype


# ---- overload and positional arguments; what has its default is left out ---------------------------------------------

def plain(*args):
    return "default", [list(a) if isinstance(a, tuple) else a for a in args]


def arange(start, end, step):
    if step == 1:
        return ("default", [end]) if start == 0 else ("start", [start, end])
    return "start_step", [start, end, step]


def randint(low, high, size):
    return ("default", [high, list(size)]) if low == 0 else ("low", [low, high, list(size)])


def eye(n, m):
    return ("default", [n]) if n == m else ("m", [n, m])


def logspace(start, end, steps, base):
    return "default", [start, end, steps] if base == 10 else [start, end, steps, base]


def triangle_indices(row, col, offset):
    return "default", [row, col, offset] if offset else [row, col]


FORMS = {
    "empty": lambda size: ("memory_format", [list(size)]), "arange": arange, "randint": randint, "eye": eye,
    "logspace": logspace, "tril_indices": triangle_indices, "triu_indices": triangle_indices,
    "normal.size": lambda size, mean, std: ("float_float", [mean, std, list(size)]),
}
