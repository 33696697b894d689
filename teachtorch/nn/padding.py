"""Padding as modules. `padding`: one size for every side, or two per dimension from the last dimension on."""

from . import functional as F
from .conv import per_dimension
from .module import Module


class _PadNd(Module):
    """What all paddings share: `count` dimensions, a mode of nn.functional.pad."""

    count, mode = None, None

    def __init__(self, padding):
        super().__init__()
        self.padding = per_dimension(padding, 2 * self.count)

    def forward(self, input):
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self):
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    """A border of one value."""

    mode = "constant"

    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad:
    """Makes a border of one value one of zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class _CircularPadNd(_PadNd):
    """A border from the other end."""

    mode = "circular"

    def forward(self, input):
        if input.dim() not in (self.count + 1, self.count + 2):
            raise ValueError(f"expected {self.count + 1}D or {self.count + 2}D input (got {input.dim()}D input)")
        return super().forward(input)


def padding_class(kind, bases, count, doc, **fields):
    """A padding of `count` dimensions."""
    return type(f"{kind}Pad{count}d", bases, {"count": count, "__doc__": doc, "__module__": __name__, **fields})


ConstantPad1d, ConstantPad2d, ConstantPad3d = [
    padding_class("Constant", (_ConstantPadNd,), n, f"A border of one value around {n} dimensions.") for n in (1, 2, 3)
]
ZeroPad1d, ZeroPad2d, ZeroPad3d = [
    padding_class("Zero", (_ZeroPad, one_value), n, f"A border of zeros around {n} dimensions.")
    for n, one_value in enumerate((ConstantPad1d, ConstantPad2d, ConstantPad3d), 1)
]
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = [
    padding_class("Reflection", (_PadNd,), n, f"A border that mirrors {n} dimensions at their edges.", mode="reflect")
    for n in (1, 2, 3)
]
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = [
    padding_class("Replication", (_PadNd,), n, f"A border that repeats the edges of {n} dimensions.", mode="replicate")
    for n in (1, 2, 3)
]
CircularPad1d, CircularPad2d, CircularPad3d = [
    padding_class("Circular", (_CircularPadNd,), n, f"A border that goes on at the other end of {n} dimensions.")
    for n in (1, 2, 3)
]
