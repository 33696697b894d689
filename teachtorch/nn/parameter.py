"""Parameter and Buffer: tensors that a Module registers when they are assigned to it."""
from contextlib import contextmanager

import numpy as np

from ..dispatch.overriding import PLAIN, disabled_torch_function
from ..ops.declare import exports
from ..tensor import Tensor, from_array, same_memory, storage_of


class ParameterMeta(type):
    """Tensors of classes of their own, such as quantised ones, are parameters by a mark that Parameter() leaves."""

    def __instancecheck__(cls, t):
        return type.__instancecheck__(cls, t) or cls is Parameter and getattr(t, "_is_param", False) is True


class Parameter(Tensor, metaclass=ParameterMeta):
    """A tensor that is a module's parameter: a leaf over the memory of `data` that requires grad by default.

    Operators on it return plain tensors. A tensor of a class of its own stays one, marked as a parameter.
    https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
    """

    __slots__ = ()
    __torch_function__ = classmethod(disabled_torch_function)

    def __new__(cls, data=None, requires_grad=True):
        if type(data) not in USUAL and isinstance(data, Tensor) and cls is Parameter:
            return marked(data, requires_grad)
        parameter = as_subclass(data, cls)
        if requires_grad and not parameter._dtype.is_floating_point:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        return parameter.requires_grad_(requires_grad)

    def __init__(self, data=None, requires_grad=True):
        """__new__ has done it all."""

    def __repr__(self, *, tensor_contents=None):
        return "Parameter containing:\n" + Tensor.__repr__(self)

    __str__ = __repr__

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return type(self), (self.detach(), self.requires_grad), self.__dict__ or None


class Buffer(Tensor):
    """A tensor that a module registers as a buffer when it is assigned; `persistent`: whether state_dict has it."""

    __slots__ = ()
    __torch_function__ = classmethod(disabled_torch_function)

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


PLAIN.update((Parameter, Buffer))
USUAL = (Tensor, Parameter, Buffer, type(None))


def marked(data, requires_grad):
    """A leaf over the memory of a tensor of a class of its own, which stays of that class and counts as a parameter."""
    t = data.detach().requires_grad_(requires_grad)
    if type(t) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() "
            f"returns an instance of the same type, but return type {type(t).__name__} was found instead. To "
            "use the type as a Parameter, please correct the detach() semantics defined by its "
            "__torch_dispatch__() implementation."
        )
    t._is_param = True
    return t


def as_subclass(data, cls):
    """A leaf of class `cls` over the memory of `data`; an empty float32 one without `data`."""
    if data is None:
        data = from_array(np.empty(0, np.float32))
    storage_of(data)
    new = same_memory(data)
    new.__class__ = cls
    return new


# ---- parameters and buffers whose shape is not known yet ----------------------------------------------------------

ATTEMPTED = (
    "Attempted to use an uninitialized parameter. This error happens when you are using a `LazyModule` or explicitly "
    "manipulating `torch.nn.parameter.{}` objects. When using LazyModules Call `forward` with a dummy batch to "
    "initialize the parameters before calling torch functions")


def _refused(self):
    """What every operator reads first."""
    raise ValueError(ATTEMPTED.format(type(self).__name__))


@contextmanager
def as_initialized(t):
    """An uninitialized tensor as the empty ordinary tensor that it really is, for the length of the block."""
    cls = type(t)
    t.__class__ = cls.cls_to_become
    try:
        yield t
    finally:
        t.__class__ = cls


def _of_the_data(name):
    """The method of that name, of the empty tensor behind an uninitialized one: what PyTorch allows."""
    def method(self, *args, **kwargs):
        return getattr(self.data, name)(*args, **kwargs)
    method.__name__ = name
    return method


class UninitializedTensorMixin:
    """A tensor that knows its dtype and device but not its shape; no operator takes it.

    It is an empty tensor whose storage and shape cannot be read. `materialize` gives it a shape and makes it an
    ordinary one. https://pytorch.org/docs/stable/generated/torch.nn.parameter.UninitializedParameter.html
    """

    __slots__ = ()

    _array = _storage = _offset = _stride = _shape = property(_refused)

    @property
    def shape(self):
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes.")

    @property
    def data(self):
        with as_initialized(self):
            return Tensor.data.__get__(self)

    @data.setter
    def data(self, value):
        with as_initialized(self):
            Tensor.data.__set__(self, value)

    def materialize(self, shape, device=None, dtype=None):
        """Become an ordinary parameter or buffer of this shape, with whatever values the memory holds."""
        self.data = exports[""]["empty"](shape, device=device or self.device, dtype=dtype or self.dtype)
        self.__class__ = self.cls_to_become

    def share_memory_(self):
        raise RuntimeError("Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize "
                           "the parameters before calling `module.share_memory()`.")

    def __repr__(self, *, tensor_contents=None):
        return f"<{type(self).__name__}>"

    __str__ = __repr__

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad,)


for _name in ("size", "half", "float", "double", "char", "short", "int", "long", "cpu", "to"):
    setattr(UninitializedTensorMixin, _name, _of_the_data(_name))


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A Parameter whose shape a lazy module finds out at its first call."""

    __slots__ = ()
    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        parameter = Parameter(exports[""]["empty"](0, device=device, dtype=dtype), requires_grad)
        parameter.__class__ = cls
        return parameter

    def __init__(self, requires_grad=True, device=None, dtype=None):
        """__new__ has done it all."""


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape a lazy module finds out at its first call."""

    __slots__ = ()
    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        buffer = exports[""]["empty"](0, device=device, dtype=dtype).requires_grad_(requires_grad)
        buffer.persistent = persistent
        buffer.__class__ = cls
        return buffer

    def __init__(self, requires_grad=False, device=None, dtype=None, persistent=True):
        """__new__ has done it all."""


def is_lazy(param):
    """Whether a tensor is uninitialized."""
    return isinstance(param, UninitializedTensorMixin)
