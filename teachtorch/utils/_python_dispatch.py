"""What a class or mode with `__torch_dispatch__` is written with (torch.utils._python_dispatch)."""
from contextlib import contextmanager

from ..dispatch.modes import dispatch_modes
from ..dispatch.overriding import dispatching
from ..ops.torch_dispatch import TorchDispatchMode  # noqa: F401
from ..tensor import Tensor, storage_of, stride_of

# Operators that give their argument another shape in place.
RESHAPING = frozenset(("t_", "transpose_", "swapaxes_", "swapdims_", "squeeze_", "unsqueeze_", "as_strided_"))


# ---- modes -------------------------------------------------------------------------------------------------

def _get_current_dispatch_mode():
    """The innermost mode that is on, or None."""
    return next(reversed(dispatch_modes.on()), None)


def _get_current_dispatch_mode_stack():
    """The modes that are on, outermost first."""
    return list(dispatch_modes.on())


def is_in_torch_dispatch_mode(include_infra_modes=True):
    """Whether a mode is on. `include_infra_modes`: there are none of PyTorch's own here."""
    return bool(dispatch_modes.on())


any_torch_dispatch_mode_on_stack = is_in_torch_dispatch_mode


@contextmanager
def _disable_current_modes():
    """In the block no mode is on; gives those that were."""
    before = dispatch_modes.on()
    dispatch_modes.set(())
    try:
        yield list(before)
    finally:
        dispatch_modes.set(before)


# ---- classes -----------------------------------------------------------------------------------------------

def is_traceable_wrapper_subclass(t):
    """Whether a tensor is of a class that says what it consists of: `__tensor_flatten__`, `__tensor_unflatten__`."""
    return is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t):
    """The same for a class."""
    return issubclass(t, Tensor) and dispatching[t] and all(
        [hasattr(t, name) for name in ("__tensor_flatten__", "__tensor_unflatten__")])


def transform_subclass(t, callback, outer_size=None, outer_stride=None):
    """The wrapper with callback(name, inner tensor) in the place of each inner tensor.

    AssertionError if what `__tensor_unflatten__` makes has another shape or other strides than it was told.
    """
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    made = type(t).__tensor_unflatten__(inner, context, size, stride)
    for what, wanted, found in (("shape", size, made.size()), ("stride", stride, made.stride())):
        if tuple(wanted) != tuple(found):
            raise AssertionError(f"Expected return value from {type(t)}__tensor_unflatten__() to have {what} equal to "
                                 f"{wanted}, but got: {found}")
    return made


# ---- aliasing ----------------------------------------------------------------------------------------------

def return_and_correct_aliasing(func, args, kwargs, out):
    """What a handler returns, so that memory is shared as `func` shares it: a view looks at the storage of its
    argument, and an argument that `func` changes is returned itself, not a new wrapper of it.

    AssertionError where the view of a traceable wrapper is of another class.
    """
    name = func.overloadpacket.__name__
    if getattr(func._op.info, "kind", None) == "view":
        for result in out if isinstance(out, (tuple, list)) else [out]:
            share_storage(func, args[0], result)
    if name in RESHAPING:
        args[0]._shape, args[0]._stride = out._shape, stride_of(out)
    if name.endswith("_") and not name.endswith("__"):
        return args[0]
    return kwargs["out"] if (kwargs or {}).get("out") is not None else out


def share_storage(func, base, view):
    """Let a view look at its base's storage."""
    if type(base) is not type(view) and (is_traceable_wrapper_subclass(base) or is_traceable_wrapper_subclass(view)):
        raise AssertionError(f"Called {func} with input of type {type(base)}\nand output of type {type(view)}. But "
                             "expected types to match.")
    if base is not view and dispatching[type(view)]:
        view._storage = storage_of(base)
