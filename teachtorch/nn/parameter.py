"""Parameter and Buffer: tensors that a Module registers when they are assigned to it."""
import numpy as np

from ..tensor import Tensor, from_array, same_memory, storage_of

class Parameter(Tensor):
    """A tensor that is a module's parameter: a leaf over the memory of `data` that requires grad by default.

    Operators on it return plain tensors. https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
    """

    __slots__ = ()

    def __new__(cls, data=None, requires_grad=True):
        if data is None:

            data = from_array(np.empty(0, np.float32))
        parameter = as_subclass(data, cls)
        if requires_grad:
            parameter.requires_grad_()
        return parameter

    def __init__(self, data=None, requires_grad=True):
        pass                                      # made by __new__

    def __repr__(self):
        return "Parameter containing:\n" + Tensor.__repr__(self)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return type(self), (self.detach(), self.requires_grad)

class Buffer(Tensor):
    """A tensor that a module registers as a buffer when it is assigned; `persistent`: whether state_dict has it."""

    __slots__ = ()

    def __new__(cls, data=None, *, persistent=True):
        buffer = as_subclass(data, cls)
        buffer.persistent = persistent
        return buffer

    def __init__(self, data=None, *, persistent=True):
        pass

def as_subclass(data, cls):
    """A leaf of class `cls` over the memory of `data`."""
    storage_of(data)
    new = same_memory(data)
    new.__class__ = cls
    return new
