"""Reading a tensor through the attributes that teachtorch and PyTorch share."""

import math

_TENSOR_MARKS = ("grad_fn", "requires_grad", "is_leaf", "stride", "storage_offset", "dtype")


def is_tensor(value):
    """True for a tensor of either library. Looks at the class, so it never wakes a lazy object."""
    return all(hasattr(type(value), mark) for mark in _TENSOR_MARKS)


def is_module(value):
    """True for an ``nn.Module`` of either library."""
    return hasattr(type(value), "named_parameters") and not isinstance(value, type)


def require_tensor(value, function):
    """Return ``value`` if it is a tensor, else raise a TypeError that says what to pass to ``function``."""
    if is_tensor(value):
        return value
    if is_module(value):
        hint = "a module has no graph of its own: call it, and pass the tensor it returns"
    else:
        hint = "pass a teachtorch or PyTorch tensor"
    raise TypeError(f"{function} takes a tensor, got {type(value).__name__}: {hint}")


def require_storage(value, function):
    """``require_tensor``, for a picture of the one storage under a tensor: a sparse tensor has none."""
    if require_tensor(value, function).is_sparse:
        raise TypeError(f"{function} draws one storage; a sparse tensor has two, under x._indices() and x._values()")
    return value


def dtype_name(dtype):
    """``float32`` for either library's dtype."""
    return str(dtype).rsplit(".", 1)[-1]


def describe(shape, dtype):
    """``float32 [2, 3]``; a 0-d tensor is ``float32 []``."""
    return f"{dtype_name(dtype)} {list(shape)}"


def element_count(shape):
    return math.prod(shape)


def byte_count(tensor):
    """Bytes of the elements of ``tensor``, each counted once."""
    return element_count(tensor.shape) * tensor.element_size()


def storage_size(tensor):
    """Bytes of the whole storage under ``tensor``; of a sparse one, those under its indices and values."""
    if tensor.is_sparse:
        return storage_size(tensor._indices()) + storage_size(tensor._values())
    return tensor.untyped_storage().nbytes()


def storage_key(tensor):
    """A value that two tensors have in common exactly when they share storage; sparse ones share their values."""
    if tensor.is_sparse:
        tensor = tensor._values()
    storage = tensor.untyped_storage()
    if tensor.device.type == "meta" or type(tensor).__name__ == "FakeTensor":
        return "no memory", getattr(storage, "_cdata", id(tensor))
    return storage.data_ptr()


def memory_of(tensor):
    """The ``storage_key`` of a tensor, or None where there is no memory to compare."""
    try:
        return storage_key(tensor) or None
    except (RuntimeError, NotImplementedError):
        return None


def human_bytes(count):
    """``24 B``, ``1.5 KiB``, ``2 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.4g} {unit}"
        count /= 1024


def number_text(value, digits=4):
    """A number short enough for a small cell."""
    if isinstance(value, complex):
        return f"{value.real:.{digits}g}{value.imag:+.{digits}g}j"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def has_values(tensor):
    """False on devices that hold shapes only."""
    return getattr(tensor.device, "type", "cpu") != "meta"


def on_cpu(value):
    """A tensor without history, on the CPU if it has values; anything else as it is."""
    if not is_tensor(value):
        return value
    plain = value.detach()
    return plain.cpu() if has_values(plain) else plain


def value_strip(tensor, limit=6):
    """The first ``limit`` values of ``tensor`` as text, with a heat in -1..1, for a small strip."""
    total = element_count(tensor.shape)
    if not has_values(tensor):
        return {"what": describe(tensor.shape, tensor.dtype), "cells": [], "more": total}
    values = tensor.detach().reshape(-1)[:limit].tolist()
    cells = [{"text": number_text(v), "heat": h} for v, h in zip(values, heat(values), strict=True)]
    return {"what": describe(tensor.shape, tensor.dtype), "cells": cells, "more": total - len(cells)}


def heat(values):
    """Each value scaled into -1..1 by the largest finite magnitude; NaN and infinities are full heat."""
    sizes = [_signed(v) for v in values]
    largest = max((abs(s) for s in sizes if math.isfinite(s)), default=0.0) or 1.0
    return [round(max(-1.0, min(1.0, s / largest)), 2) if not math.isnan(s) else 1.0 for s in sizes]


def _signed(value):
    return abs(value) if isinstance(value, complex) else float(value)


def has_readable_history(tensor):
    """Whether the library answers for the tensor's grad_fn: it refuses for a view whose base was changed against the
    rules, such as an output of split."""
    try:
        tensor.grad_fn
    except RuntimeError:
        return False
    return True
