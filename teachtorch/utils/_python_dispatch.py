"""What a class with `__torch_dispatch__` is written with (torch.utils._python_dispatch)."""
from ..dispatch.overriding import dispatching
from ..ops.torch_dispatch import TorchDispatchMode  # noqa: F401
from ..tensor import Tensor


def is_traceable_wrapper_subclass(t):
    """Whether a tensor is of a class that says what it consists of: `__tensor_flatten__`, `__tensor_unflatten__`."""
    return isinstance(t, Tensor) and dispatching[type(t)] and all(
        [hasattr(t, name) for name in ("__tensor_flatten__", "__tensor_unflatten__")])


def transform_subclass(t, callback, outer_size=None, outer_stride=None):
    """The wrapper with callback(name, inner tensor) in the place of each inner tensor."""
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    return type(t).__tensor_unflatten__(inner, context, outer_size or t.size(), outer_stride or t.stride())


def return_and_correct_aliasing(func, args, kwargs, out):
    """What a handler returns: an argument that `func` changes in place is returned itself, not a new wrapper of it."""
    if func.overloadpacket.__name__.endswith("_") and not func.overloadpacket.__name__.endswith("__"):
        return args[0]
    if "out" in (kwargs or {}):
        return kwargs["out"]
    return out
