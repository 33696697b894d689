"""Which classes take calls of the public functions over, by having a `__torch_function__` (see torch_function.py)."""
import inspect
import warnings

from ..tensor import Tensor
from . import keys as K

PLAIN = {Tensor, type(None), int, float, bool, str}       # the usual arguments' classes, which do not


def disabled_torch_function(cls, func, types, args=(), kwargs=None):
    """`__torch_function__ = torch._C._disabled_torch_function_impl` makes a subclass behave like Tensor itself."""
    return func(*args, **(kwargs or {}))


def is_pytorchs(handler):
    """Whether it is PyTorch's own, which answers for PyTorch's functions: its tensors may be given to from_dlpack."""
    return getattr(handler, "__module__", "").partition(".")[0] == "torch"


def is_static(cls):
    """Whether a class's `__torch_function__` is a staticmethod."""
    return isinstance(inspect.getattr_static(cls, "__torch_function__"), staticmethod)


class Overriding(dict):
    """class → whether its instances take calls over; filled as classes are met."""

    def __missing__(self, cls):
        found = self[cls] = self.look(cls)
        return found

    @staticmethod
    def look(cls):
        handler = getattr(cls, "__torch_function__", None)
        if handler is None or cls is Tensor or is_pytorchs(handler):
            return False
        if inspect.isfunction(handler) and handler is not disabled_torch_function and not is_static(cls):
            warnings.warn("Defining your `__torch_function__` as a plain method is deprecated and will be an error in "
                          "future, please define it as a classmethod.", UserWarning, stacklevel=2)
        return getattr(handler, "__func__", handler) is not disabled_torch_function


overriding = Overriding()


class Dispatching(dict):
    """class of tensors → whether it takes operators over, by having a `__torch_dispatch__` (ops/torch_dispatch.py)."""

    def __missing__(self, cls):
        found = self[cls] = issubclass(cls, Tensor) and getattr(cls, "__torch_dispatch__", None) is not None
        return found


dispatching = Dispatching()


def asks(argument):
    """Whether an argument, or something in it if it is a list or tuple, is of a class that takes calls over."""
    if argument.__class__ in (list, tuple):
        return any([overriding[item.__class__] for item in argument])
    return overriding[argument.__class__]


def keys_of_other(argument):
    """The keys that an argument which is no tensor adds to a call: PythonFunction, if its class overrides."""
    return K.PYTHON_FUNCTION if overriding[argument.__class__] else 0
