"""From what a file says of a tensor to the tensor: nothing that it says is believed unchecked."""
from ..core import geometry
from ..core.dtype import dtype as dtype_class
from ..core.layout import sparse_coo
from ..memory.storage import UntypedStorage
from ..memory.typed_storage import TypedStorage
from ..ops.declare import exports
from ..tensor import Tensor, from_geometry, meta_tensor, same_memory

OUT_OF_BOUNDS = ("setStorage: sizes {}, strides {}, storage offset {}, and itemsize {} requiring a storage size of {} "
                 "are out of bounds for storage of size {}")


def tensor(storage, storage_offset, size, stride):
    """A view of a storage. RuntimeError unless it lies inside."""
    return view_of(storage, storage.dtype, storage_offset, size, stride)


def tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    """A tensor of the storage's dtype; hooks are never kept in files, `metadata` is about complex numbers."""
    return tensor(storage, storage_offset, size, stride).requires_grad_(bool(requires_grad))


def tensor_v3(storage, storage_offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None):
    """A tensor whose dtype stands apart from its storage."""
    return view_of(storage, dtype, storage_offset, size, stride).requires_grad_(bool(requires_grad))


def tensor_on_meta(dtype, size, stride, requires_grad):
    """A tensor without data."""
    check_numbers(*size, *stride)
    return meta_tensor(tuple(size), dtype, tuple(stride)).requires_grad_(bool(requires_grad))


def sparse_tensor(layout, parts):
    """A sparse tensor of (indices, values, size) and, in newer files, whether it is coalesced. RuntimeError for indices
    outside of the size, TypeError for parts that are no tensors."""
    indices, values, size, *is_coalesced = parts
    if layout is not sparse_coo or not (isinstance(indices, Tensor) and isinstance(values, Tensor)):
        raise TypeError(f"a tensor of layout {layout} is not made of these parts")
    check_numbers(*size)
    return exports[""]["sparse_coo_tensor"](indices, values, tuple(size), check_invariants=True,
                                            is_coalesced=bool(is_coalesced and is_coalesced[0]))


def parameter(cls):
    """The functions that make a parameter of class `cls`, without and with attributes."""
    def plain(data, requires_grad, backward_hooks):
        return cls(as_tensor(data), bool(requires_grad))

    def with_state(data, requires_grad, backward_hooks, state):
        return with_attributes(plain(data, requires_grad, backward_hooks), state)
    return plain, with_state


def of_type(function, cls, arguments, state):
    """A tensor of a subclass, or with attributes. TypeError unless `function` makes tensors and `cls` is of them."""
    if function not in (tensor, tensor_v2, tensor_v3, tensor_on_meta, wrapper):
        raise TypeError(f"a tensor is not made by {function!r}")
    made = function(*arguments)
    if cls is not type(made):
        made = converted(made, cls)
    return with_attributes(made, state)


def wrapper(cls, dtype, size, stride, storage_offset, layout, device, requires_grad):
    """An instance of a class with `__torch_dispatch__`, which has no data: what it keeps are its attributes."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"{cls!r} is no subclass of Tensor")
    return Tensor._make_wrapper_subclass(cls, size, strides=stride, storage_offset=storage_offset, dtype=dtype,
                                         device=device, requires_grad=requires_grad)


def converted(made, cls):
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"{cls!r} is no subclass of Tensor")
    new = same_memory(made)
    new.__class__ = cls
    return new.requires_grad_(made.requires_grad)


def with_attributes(made, state):
    if state:
        if not isinstance(state, dict):
            raise TypeError(f"the attributes of a tensor are a dict, not {type(state).__name__}")
        made.__dict__.update(state)
    return made


def view_of(storage, dtype, offset, size, stride):
    """A tensor over part of a storage."""
    untyped = storage.untyped() if isinstance(storage, TypedStorage) else storage
    if not isinstance(untyped, UntypedStorage) or not isinstance(dtype, dtype_class):
        raise TypeError("a tensor is made of a storage and a dtype")
    check_numbers(offset, *size, *stride)
    if len(size) != len(stride):
        raise RuntimeError(f"mismatch in length of strides and shape: {len(stride)} and {len(size)}")
    needed = geometry.storage_extent(size, stride, offset) * dtype.itemsize
    if needed > untyped.nbytes():
        raise RuntimeError(OUT_OF_BOUNDS.format(list(size), list(stride), offset, dtype.itemsize, needed,
                                                untyped.nbytes()))
    return from_geometry(untyped, tuple(size), tuple(stride), offset, dtype)


def check_numbers(*numbers):
    if not all(type(n) is int and n >= 0 for n in numbers):
        raise RuntimeError(f"sizes, strides and offsets are whole numbers from 0 up, not {numbers}")


def as_tensor(data):
    if not isinstance(data, Tensor):
        raise TypeError(f"a parameter is made of a tensor, not of {type(data).__name__}")
    return data
