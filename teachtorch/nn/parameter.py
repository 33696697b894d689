"""Parameter and Buffer: tensors that a Module registers when they are assigned to it."""
import numpy as np

from ..tensor import Tensor, from_array, same_memory, storage_of


class Parameter(Tensor):
    """A tensor that is a module's parameter: a leaf over the memory of `data` that requires grad by default.

    Operators on it return plain tensors. https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
    """

    __slots__ = ()

    def __new__(cls, data=None, requires_grad=True):
        parameter = as_subclass(data, cls)
        if requires_grad and not parameter._dtype.is_floating_point:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        return parameter.requires_grad_(requires_grad)

    def __init__(self, data=None, requires_grad=True):
        """__new__ has done it all."""

    def __repr__(self, *, tensor_contents=None):
        return "Parameter containing:\n" + Tensor.__repr__(self)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return type(self), (self.detach(), self.requires_grad), self.__dict__ or None


class Buffer(Tensor):
    """A tensor that a module registers as a buffer when it is assigned; `persistent`: whether state_dict has it."""

    __slots__ = ()

    def __new__(cls, data=None, *, persistent=True):
        buffer = as_subclass(data, cls)
        buffer.persistent = persistent
        return buffer.requires_grad_(data is not None and data.requires_grad)

    def __init__(self, data=None, *, persistent=True):
        """__new__ has done it all."""

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), persistent=self.persistent)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return type(self), (self.detach(),), self.__dict__


def as_subclass(data, cls):
    """A leaf of class `cls` over the memory of `data`; an empty float32 one without `data`."""
    if data is None:
        data = from_array(np.empty(0, np.float32))
    storage_of(data)
    new = same_memory(data)
    new.__class__ = cls
    return new
