"""Sizes in a trace: `x.shape[0]`, `x.size(0)` and what is computed of them are nodes, so that a trace holds for other
sizes. PyTorch traces them as tensors without dimensions.

A TracedInt is an int with a node. Who needs a plain int of it (`range`, `len`, a comparison) has the example's, and
it is frozen.
"""

import math
import operator
from contextlib import contextmanager

from ..core import geometry
from ..fx.node import Node
from ..ops.view import copies
from ..tensor import Size, Tensor

ARITHMETIC = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "truediv": operator.truediv,
    "mod": operator.mod,
    "pow": operator.pow,
}


def size(t, dim):
    """The length of a dimension."""
    return t.size(dim)


FUNCTIONS = {"getitem": operator.getitem, "size": size, "neg": operator.neg, **ARITHMETIC}
NAMES = {function: name for name, function in FUNCTIONS.items()}


class Traced:
    """What the numbers have in common: `noted`, the trace they belong to; `make_node`, and `made`, the node if made."""

    def __neg__(self):
        return computed(operator.neg, self.plain(self), self)


class TracedInt(Traced, int):
    """A size, or an int that was computed of sizes."""

    plain = int
    __class__ = property(lambda self: int)  # who asks for ints alone takes it, and does not make a plain one of it


class TracedFloat(Traced, float):
    """A float that was computed of sizes."""

    plain = float
    __class__ = property(lambda self: float)


def traced_number(value, noted, make_node):
    """The number with its node, which is made when somebody uses it."""
    number = {int: TracedInt, float: TracedFloat}[type(value)](value)
    number.noted, number.made, number.make_node = noted, None, make_node
    return number


def node_of_number(number):
    if number.made is None:
        number.made = number.make_node()
        number.made.meta["type"] = number.plain.__name__
    return number.made


def is_of(value, noted):
    return isinstance(value, Traced) and value.noted is noted


def computed(function, value, *operands):
    """The value that a function has of numbers, with its node; the value alone where it is no number of this kind."""
    noted = next(operand.noted for operand in operands if isinstance(operand, Traced))
    if type(value) not in (int, float):
        return value

    def make_node():
        arguments = [node_of_number(o) if is_of(o, noted) else plain(o) for o in operands]
        return noted.graph.call_function(function, tuple(arguments))

    return traced_number(value, noted, make_node)


def plain(value):
    """The number without its node; in tuples and lists, too."""
    if isinstance(value, Traced):
        return value.plain(value)
    if isinstance(value, (tuple, list)) and any(isinstance(v, (Traced, tuple, list)) for v in value):
        return (tuple if isinstance(value, tuple) else list)([plain(v) for v in value])
    return value


def with_nodes(value, noted):
    """An operator's argument, with the node of each number that belongs to the trace."""
    if is_of(value, noted):
        return node_of_number(value)
    if isinstance(value, (tuple, list)) and not isinstance(value, Node):
        kind = list if isinstance(value, list) else tuple
        return kind([with_nodes(v, noted) for v in value]) if any(map(holds_numbers, value)) else value
    return plain(value)


def holds_numbers(value):
    return isinstance(value, Traced) or (isinstance(value, (tuple, list)) and any(map(holds_numbers, value)))


def add_arithmetic(kind):
    for name, function in ARITHMETIC.items():
        setattr(kind, f"__{name}__", operation(function, kind.plain))
        setattr(kind, f"__r{name}__", reflected(function, kind.plain))


def operation(function, kind):
    def method(self, other):
        if type(other) not in (int, float) and not isinstance(other, Traced):
            return NotImplemented
        return computed(function, function(kind(self), plain(other)), self, other)

    return method


def reflected(function, kind):
    def method(self, other):
        if type(other) not in (int, float):
            return NotImplemented
        return computed(function, function(other, kind(self)), other, self)

    return method


add_arithmetic(TracedInt)
add_arithmetic(TracedFloat)


@contextmanager
def sizes_traced(noted):
    """In the block the sizes of the trace's tensors are TracedInts."""
    before = {name: getattr(Tensor, name) for name in ("shape", "size", "numel", "nelement")}
    plain_shape, plain_size = before["shape"], before["size"]

    def size_of(t, dim):
        def make_node():
            return noted.graph.call_function(size, (noted.node_of(t), dim))

        return traced_number(plain_size(t, dim), noted, make_node)

    def shape(t):
        if not noted.is_traced(t):
            return plain_shape.fget(t)
        return Size([size_of(t, dim) for dim in range(t.dim())])

    def asked(t, dim=None):
        if not noted.is_traced(t):
            return plain_size(t, dim)
        return shape(t) if dim is None else size_of(t, operator.index(dim))

    def numel(t):
        return math.prod(shape(t))

    Tensor.shape, Tensor.size, Tensor.numel, Tensor.nelement = property(shape), asked, numel, numel
    copies.append(noted)
    try:
        yield
    finally:
        copies.pop()
        for name, plain_one in before.items():
            setattr(Tensor, name, plain_one)
        geometry.forget()
