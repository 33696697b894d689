"""The values of a lowered graph: what a fused kernel can compute element by element, and what stays a call.

    Input        a tensor the graph is given
    Pointwise    one element of it is a function of one element of each operand, which broadcast
    Reduce       a sum or a maximum over some dimensions
    Call         anything else: an operator is called with tensors

Each value knows its shape, dtype and strides before anything has run.
"""
import math

from ..core import geometry


class Value:
    """A tensor that the graph makes or is given.

    Args:
        name: what generated code calls it.
        shape, dtype: as of a tensor; the strides are in elements, contiguous unless given.
    """

    operands = ()

    def __init__(self, name, shape, dtype, strides=None):
        self.name, self.shape, self.dtype = name, tuple(shape), dtype
        self.strides = geometry.contiguous_strides(self.shape) if strides is None else tuple(strides)

    @property
    def numel(self):
        return math.prod(self.shape)

    @property
    def nbytes(self):
        """Bytes that its distinct elements take: an expanded tensor's are counted once."""
        sizes = [size for size, stride in zip(self.shape, self.strides) if stride or size == 0]
        return math.prod(sizes) * self.dtype.itemsize

    def __repr__(self):
        return f"{type(self).__name__}({self.name}, {self.shape})"


class Input(Value):
    """A tensor that the graph is given: an argument, a parameter, a saved tensor, a tangent."""


class Pointwise(Value):
    """`function`: the text of an expression with {0}, {1}, ..., or a one-element Python function.

    `operands`: Values and numbers; `compute`: the dtype that operands are converted to first.
    """

    def __init__(self, name, shape, dtype, function, operands, compute, strides=None):
        super().__init__(name, shape, dtype, strides)
        self.function, self.operands, self.compute = function, operands, compute

    @property
    def is_cheap(self):
        """Whether computing it again costs about as little as loading it."""
        return isinstance(self.function, str)


class Reduce(Value):
    """`kind`: "sum", "amax" or "amin" of the operand over `dims`, which stay as ones if `keepdim`."""

    def __init__(self, name, shape, dtype, kind, operand, dims, keepdim):
        super().__init__(name, shape, dtype)
        self.kind, self.operands, self.dims, self.keepdim = kind, (operand,), tuple(dims), keepdim


class Call(Value):
    """`target(*args, **kwargs)`, arguments being Values, numbers and nestings of them.

    `users` of a Call with several results are Calls of operator.getitem. `is_view`: whether the result looks
    at the memory of the first argument. `is_ordered`: whether it must keep its place among the others of its
    kind, because it changes memory or draws random numbers.
    """

    def __init__(self, name, shape, dtype, strides, target, args, kwargs, is_view=False, is_ordered=False):
        super().__init__(name, shape, dtype, strides)
        self.target, self.args, self.kwargs = target, args, kwargs
        self.is_view, self.is_ordered = is_view, is_ordered
        self.operands = tuple(values_in((args, kwargs)))
        self.after = ()                     # Calls that must have run before


class Several(Call):
    """A Call whose result is a tuple."""


def values_in(nesting):
    """The Values in tuples, lists and dicts, in order."""
    if isinstance(nesting, Value):
        return [nesting]
    if isinstance(nesting, dict):
        nesting = nesting.values()
    elif not isinstance(nesting, (tuple, list)):
        return []
    return [value for item in nesting for value in values_in(item)]
