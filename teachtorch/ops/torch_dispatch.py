"""`__torch_dispatch__`: classes and modes that take operators over below autograd, in place of a backend's kernel.

    autograd has recorded the call  →  the key Python  →  modes, innermost first; then the arguments' classes
                                                        →  without any, the backend's kernel

What arrives is an operator under its full name, `torch.ops.aten.mm.default`: compositions such as linear have fallen
apart into their parts above. A mode or class that calls operators itself does not meet itself again.
https://pytorch.org/docs/stable/notes/extending.html#extending-torch-native-api, torch/utils/_python_dispatch.py.
"""
import functools

from ..core import device as devices
from ..core import geometry, settings
from ..dispatch import keys as K
from ..dispatch.modes import dispatch_modes
from ..dispatch.operator import COMPOSITE_IMPLICIT, makers
from ..dispatch.overriding import dispatching
from ..dispatch.state import state
from ..dispatch.torch_function import as_written, become, one_of_each_class
from ..memory.storage import UntypedStorage
from ..tensor import Tensor, from_geometry
from .arguments import as_dtype
from .factory_calls import as_called, like_as_called
from .namespaces import overload_of


RECORDING = K.AUTOGRAD | K.AD_INPLACE_OR_VIEW        # what has been done when a handler is asked


def python_kernel(op):
    """The kernel of an operator under the key Python; None for a composition, whose parts will be asked."""
    if op.info is None or COMPOSITE_IMPLICIT in op.kernels and len(op.kernels) == 1:
        return None
    if op.info.kind == "factory":
        return factory_kernel(op)

    def python(keys, *args):
        candidates = one_of_each_class(args, dispatching)
        if not state.dispatch_modes and not candidates:
            return op.redispatch(keys & K.PYTHON - 1, *args)
        return ask(op, args, candidates)
    return python


makers[K.PYTHON] = python_kernel


def factory_kernel(op):
    """The same for a factory, which has no tensors to ask: only modes see it."""
    def python(keys, device, *args):
        if not state.dispatch_modes:
            return op.redispatch(keys & K.PYTHON - 1, device, *args)
        overload, positional, keywords = as_called(op, device, args)
        return offer(overload, positional, keywords, [])
    return python


def ask(op, args, candidates):
    """The answer of the first that has one. TypeError if nobody has."""
    is_like = op.info.kind == "like" and op.name != "lift_fresh"
    written = like_as_called(op, args) if is_like else as_written(op.info.signature, args)
    return offer(overload_of(op, args), *written, candidates)


def offer(overload, positional, keywords, candidates):
    """The answer of the innermost mode or of the first class that has one. Nothing in there is recorded again."""
    before = state.excluded
    state.excluded = before | RECORDING
    try:
        return answer(overload, positional, keywords, candidates)
    finally:
        state.excluded = before


def answer(overload, positional, keywords, candidates):
    types = tuple([type(c) for c in candidates])
    if state.dispatch_modes:
        with dispatch_modes.without_innermost() as mode:
            found = handler_of(mode, type(mode), overload)(overload, types, tuple(positional), keywords)
        if found is not NotImplemented:
            return found
    for candidate in candidates:
        cls = type(candidate)
        found = handler_of(cls, cls, overload)(overload, types, tuple(positional), keywords)
        if found is not NotImplemented:
            return found
    raise TypeError(multiple_dispatch_failed(overload, types))


def multiple_dispatch_failed(overload, types):
    tried = [f"  - mode object {mode}" for mode in state.dispatch_modes[-1:]]
    tried += [f"  - tensor subclass {t}" for t in types]
    return (f"Multiple dispatch failed for 'torch._ops.{overload}'; all __torch_dispatch__ handlers returned "
            "NotImplemented:\n\n" + "\n".join(tried) + "\n\nFor more information, try re-running with "
            "TORCH_LOGS=not_implemented")


def handler_of(owner, cls, overload):
    """What a mode or class is asked by: the rule it has for this operator of a user's, else its handler."""
    rule = getattr(overload._op, "dispatch_rules", {}).get(cls)
    return owner.__torch_dispatch__ if rule is None else functools.partial(rule, owner)


def is_factory(func):
    """Whether an overload makes a tensor of no tensors, or announces one that was made of data (lift_fresh)."""
    return func._op.name == "lift_fresh" or getattr(func._op.info, "kind", None) == "factory"


# ---- modes -------------------------------------------------------------------------------------------------

class TorchDispatchMode:
    """A context manager whose `__torch_dispatch__` sees every operator that runs in its block, below autograd.

    While a handler runs its own mode is off; further modes stay on.
    """

    def __init__(self, _dispatch_key=None):
        if _dispatch_key is not None:
            raise NotImplementedError("TorchDispatchMode(_dispatch_key=...): the modes that PyTorch's own machinery "
                                      "keeps under keys of their own are not there")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        dispatch_modes.push(self)
        return self

    def __exit__(self, *error):
        dispatch_modes.pop()


# ---- wrapper tensors ---------------------------------------------------------------------------------------

def make_wrapper_subclass(cls, size, strides=None, storage_offset=0, memory_format=None, dtype=None, layout=None,
                          device=None, pin_memory=False, requires_grad=False, **further):
    """An instance of `cls` with a shape, dtype and device and no data (Tensor._make_wrapper_subclass).

    `cls` has a `__torch_dispatch__`, which computes with what it keeps beside. TypeError without one.
    """
    if not dispatching[cls]:
        raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
    size = checked_size(size)
    strides = geometry.contiguous_strides(size) if strides is None else tuple(strides)
    if len(strides) != len(size):
        raise RuntimeError(f"dimensionality of sizes ({len(size)}) must match dimensionality of strides "
                           f"({len(strides)})")
    dtype = settings.default_dtype if dtype is None else as_dtype(dtype, "_make_wrapper_subclass")
    if requires_grad and not dtype.is_floating_point:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    extent = geometry.storage_extent(size, strides, storage_offset) * dtype.itemsize
    place = devices.CPU if device is None else devices.as_device(device)
    t = become(from_geometry(UntypedStorage(None, place, extent), size, strides, storage_offset, dtype), cls)
    return t.requires_grad_() if requires_grad else t


def checked_size(size):
    """The sizes as a tuple. TypeError for what is no sequence, RuntimeError for a negative size."""
    if not isinstance(size, (tuple, list)):
        raise TypeError("_make_wrapper_subclass(): argument 'size' (position 2) must be tuple of ints, not "
                        f"{type(size).__name__}")
    if any([n < 0 for n in size]):
        raise RuntimeError(f"_make_wrapper_subclass(): a size is negative: {tuple(size)}")
    return tuple(size)


def make_subclass(cls, data, require_grad=False, **further):
    """An instance of `cls` over the memory of `data`, outside of its graph (Tensor._make_subclass)."""
    return become(data.detach(), cls).requires_grad_(require_grad)


Tensor._make_wrapper_subclass = staticmethod(make_wrapper_subclass)
Tensor._make_subclass = staticmethod(make_subclass)
