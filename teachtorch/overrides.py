"""Taking calls of the public functions over: torch.overrides. The mechanism is dispatch/torch_function.py."""
import functools
import sys
import types

from .dispatch.operator import registry
from .dispatch.overriding import overriding
# noqa: F401
from .dispatch.torch_function import (TorchFunctionMode, asks_itself as asks, handle_torch_function,
                                      has_torch_function)
from .ops.declare import exports
from .tensor import Tensor

__all__ = ["TorchFunctionMode", "get_ignored_functions", "get_overridable_functions", "get_testing_overrides",
           "handle_torch_function", "has_torch_function",
           "has_torch_function_unary", "has_torch_function_variadic", "is_tensor_like",
           "is_tensor_method_or_property",
           "resolve_name", "wrap_torch_function"]


def has_torch_function_unary(argument):
    """`has_torch_function((argument,))`."""
    return has_torch_function((argument,))


def has_torch_function_variadic(*arguments):
    """`has_torch_function(arguments)`."""
    return has_torch_function(arguments)


def wrap_torch_function(dispatcher):
    """A decorator that opens a function of one's own to overriding.

    `dispatcher(*args, **kwargs)` returns the arguments whose classes are to be asked.
    """
    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)
        return wrapped
    return decorate


def is_tensor_like(value):
    """Whether a value is a tensor or of a class that takes calls over."""
    return isinstance(value, Tensor) or overriding[type(value)]


def get_overridable_functions():
    """{namespace: functions in it that can be taken over}; namespaces are teachtorch's modules, and Tensor."""
    named = {space: [f for f in functions.values() if isinstance(f, types.FunctionType)]
             for space, functions in exports.items()}
    return {Tensor if space == "Tensor" else f"teachtorch.{space}".rstrip("."): functions
            for space, functions in named.items()}


def get_ignored_functions():
    """A set of public functions that nobody can take over: they make tensors of no tensors, or take none."""
    package = sys.modules[__name__.partition(".")[0]]
    public = {f for name, f in vars(package).items() if isinstance(f, types.FunctionType)
              and not name.startswith("_")}
    return {f for f in public if not asks(f) or getattr(operator_of(f), "kind", None) == "factory"}


def operator_of(function):
    """What is declared of the operator that a public function is; None for a composition."""
    found = registry.get(getattr(function, "__name__", ""))
    return found.info if found is not None and found.public is function else None


def get_testing_overrides():
    """{function that can be taken over: a function of the same parameters that returns -1}, for tests of overriding."""
    ignored = get_ignored_functions()
    return {f: stand_in(f) for functions in get_overridable_functions().values() for f in functions
            if f not in ignored}


def stand_in(function):
    def dummy(*args, **kwargs):
        return -1
    functools.update_wrapper(dummy, function)
    return dummy


def is_tensor_method_or_property(function):
    """Whether a function is a method of Tensor, or reads one of its attributes (`Tensor.shape.__get__`)."""
    return function in exports["Tensor"].values() or getattr(function, "__name__", None) == "__get__"


def resolve_name(function):
    """The name users call a function by, such as "torch.nn.functional.relu"; None if it is none of ours."""
    # a method that is a function too is the function
    for space in sorted(exports, key="Tensor".__eq__):
        for name, exported in exports[space].items():
            if exported is function:
                return ".".join(["torch", *([space] if space else []), name])
    return None
