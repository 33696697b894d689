"""`Variable`, the name that tensors with gradients had before PyTorch 0.4: still found in old code."""
import warnings

from ..tensor import Tensor
from .engine import queue_callback


class ExecutionEngine:
    """What torch.autograd.Variable._execution_engine offers: a callback at the end of the running backward pass."""

    queue_callback = staticmethod(queue_callback)


class VariableMeta(type):
    """Makes every tensor an instance of Variable."""

    def __instancecheck__(cls, other):
        return isinstance(other, Tensor)


class Variable(metaclass=VariableMeta):
    """Variable(data, requires_grad=False) is the tensor `data`, outside its graph; every tensor is a Variable."""

    _execution_engine = ExecutionEngine

    def __new__(cls, data, requires_grad=False, volatile=None):
        if volatile is not None:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", stacklevel=2
            )
        return data.detach().requires_grad_(requires_grad)
