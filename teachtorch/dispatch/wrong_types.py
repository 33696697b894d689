"""What users are told who pass a function something that is no tensor.

Operators do not look at their arguments' types, since each look would cost every call. A kernel that is given a string
soon asks it for what only tensors have; the AttributeError says which object was asked. If that object is one of the
arguments, the call was wrong, and the error becomes the TypeError that PyTorch raises for it.
"""
import inspect

from ..tensor import Tensor


def explain_attribute_error(error, name, names, arguments):
    """Raise PyTorch's TypeError if `error` comes from asking a non-tensor among `arguments`, else `error` itself."""
    asked = error.obj
    if error.name is not None and not hasattr(type(asked), "__torch_function__"):
        for position, argument in enumerate(arguments):
            if argument is asked:
                raise wrong_type(name, names[position], position, "Tensor", asked) from None
            if isinstance(argument, (list, tuple)) and any(a is asked for a in argument):
                raise wrong_type(name, names[position], position, "tuple of Tensors", argument) from None
    raise error


def explain_call(error, name, function, args, kwargs):
    """The same for a call of a Python function that takes `args` and `kwargs`."""
    bound = inspect.signature(function).bind(*args, **kwargs).arguments
    explain_attribute_error(error, name, list(bound), list(bound.values()))


def wrong_type(name, argument, position, wanted, found):
    """PyTorch's words for an argument of a wrong type, as a TypeError. `position` counts from 0."""
    return TypeError(f"{name}(): argument '{argument}' (position {position + 1}) must be {wanted}, "
                     f"not {type(found).__name__}")


def require_tensor(name, value):
    """TypeError for a first argument that is no tensor: for functions that would answer without asking it."""
    if not isinstance(value, Tensor):
        raise wrong_type(name, "input", 0, "Tensor", value)
