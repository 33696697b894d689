"""Tensors and the world outside: NumPy, DLPack, and Python's protocols (numbers, sequences, pickles)."""
import copy
import warnings

import numpy as np

from ..autograd.meta import tracks
from ..core import dtype as dt
from ..core import observer, settings
from ..core.device import CPU, as_device
from ..core.once import warn_once
from ..dispatch.batched import BRANCH, ITEM, NO_STORAGE, refuse_batched
from ..dispatch.state import state
from ..dispatch.torch_function import reported
from ..memory.storage import UntypedStorage, bytes_of
from ..tensor import (Entries, Tensor, array_of, entries_of, from_array, from_entries, from_geometry, method,
                      storage_of, stride_of)
from .arguments import as_dtype
from .creation import announced, asked_grad, tensor
from .declare import publish
from .sequences import check_ndarray, only_element

NOT_WRITABLE = (
    "The given {what} is not writable, and PyTorch does not support non-writable tensors. This means "
    "{meaning}. You may want to copy the {thing} to protect its data or make it writable before converting "
    "it to a tensor. This type of warning will be suppressed for the rest of this program.")


# ---- NumPy ---------------------------------------------------------------------------------------

def numpy(self, *, force=False):
    """An array over the same memory: changes are seen on both sides.

    `force`: detach and copy to the CPU first if needed. RuntimeError for tensors that require grad,
    TypeError for tensors on other devices and for bfloat16.
    """
    if entries_of(self) is not None:
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")
    refuse_batched(self, NO_STORAGE)
    if force:
        self = self.detach().cpu()
    if state.grad_enabled and tracks(self):
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if self._device.type != "cpu":
        raise TypeError(f"can't convert {self._device} device type tensor to numpy. Use Tensor.cpu() to copy "
                        "the tensor to host memory first.")
    if self._dtype is dt.bfloat16:
        raise TypeError("Got unsupported ScalarType BFloat16")
    return shared_array(self)


def shared_array(t):
    """An array of its own over the tensor's memory: reshaping one in place leaves the other alone."""
    storage_of(t).is_resizable = False
    return array_of(t).view()


def from_numpy(ndarray):
    """A tensor over the same memory as `ndarray`: changes are seen on both sides.

    TypeError for what is no array or has a dtype that tensors lack, ValueError for negative strides.
    """
    if not isinstance(ndarray, np.ndarray):
        name = type(ndarray).__name__
        raise TypeError(f"expected np.ndarray (got {'numpy.' * isinstance(ndarray, np.generic)}{name})")
    check_ndarray(ndarray)
    if not ndarray.flags.writeable:
        warn_once("NumPy array", NOT_WRITABLE.format(
            what="NumPy array", thing="array",
            meaning="writing to this tensor will result in undefined behavior"))
        ndarray = writable(ndarray)
    return announced(borrowed(ndarray))


def borrowed(array):
    """A tensor over an array's memory, of which a masked array shows what lies under its mask too.

    NumPy's strides stay as they are, those of empty and of size-1 dimensions too."""
    array = array.view(np.ndarray)
    t = from_array(array)
    t._stride = tuple([s // array.itemsize for s in array.strides])
    t._storage = UntypedStorage(bytes_of(array), CPU)
    t._storage.is_resizable = False
    return t


class _Lender:
    """Hands out an array's memory as writable, and keeps the array alive."""

    def __init__(self, owner):
        self.owner = owner
        interface = dict(owner.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


def writable(array):
    return np.asarray(_Lender(array)).view(array.dtype)


def __array__(self, dtype=None):
    """What `np.asarray(tensor)` calls."""
    array = self.numpy()
    return array if dtype is None else array.astype(dtype, copy=False)


def __array_wrap__(self, array, context=None, return_scalar=False):
    """Results of NumPy functions on tensors become tensors, those of bools, as ever in PyTorch, of uint8."""
    array = np.asarray(array)
    return from_numpy(array.astype(np.uint8) if array.dtype == np.bool_ else array)


def as_tensor(data, dtype=None, device=None):
    """`data` as a tensor, without a copy where possible: tensors as they are, arrays by their memory."""
    dtype = None if dtype is None else as_dtype(dtype, "as_tensor")
    if isinstance(data, np.ndarray):
        data = from_numpy(data)
    if isinstance(data, Tensor):
        return data.to(data._device if device is None else as_device(device), dtype or data._dtype)
    return tensor(data, dtype=dtype, device=device)


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A vector over the memory of an object with the buffer protocol. ValueError where it is too short."""
    memory = np.frombuffer(buffer, np.uint8)
    itemsize = dtype.itemsize
    if not memory.size or count == 0:
        raise ValueError(f"both buffer length ({memory.size}) and count ({count}) must not be 0")
    if not 0 <= offset < memory.size:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
                         f"({memory.size} bytes) minus 1")
    if count < 0 and (memory.size - offset) % itemsize:
        raise ValueError(f"buffer length ({memory.size - offset} bytes) after offset ({offset} bytes) must "
                         f"be a multiple of element size ({itemsize})")
    count = (memory.size - offset) // itemsize if count < 0 else count
    if count * itemsize > memory.size - offset:
        raise ValueError(f"requested buffer length ({count} * {itemsize} bytes) after offset ({offset} "
                         f"bytes) must not be greater than actual buffer length ({memory.size} bytes)")
    if not memory.flags.writeable:
        warn_once("buffer", NOT_WRITABLE.format(
            what="buffer", thing="buffer",
            meaning="you can write to the underlying (supposedly non-writable) buffer using the tensor"))
        memory = writable(memory)
    t = borrowed(memory[offset:offset + count * itemsize].view(dtype.numpy))
    return asked_grad(t) if requires_grad else t


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=None):
    """`obj` (tensor, array, DLPack or buffer object, number, sequence) as a tensor.

    `copy`: True always copies, False never (ValueError where a copy is needed), None copies if it must.
    """
    dtype = None if dtype is None else as_dtype(dtype, "asarray")
    found, is_copy = as_existing(obj, dtype)
    if copy is False:
        check_alias(found, is_copy, dtype, device)
    target = found._device if device is None and isinstance(obj, Tensor) else as_device(device)
    wants_grad = requires_grad
    if requires_grad is None:
        wants_grad = tracks(found)
        if wants_grad:
            warnings.warn(ASARRAY_GRAD, UserWarning, stacklevel=2)
    converted = found.to(target, dtype or found._dtype, copy=bool(copy) and not is_copy)
    if not wants_grad:
        return converted.detach() if tracks(converted) else converted
    return converted if tracks(converted) else converted.requires_grad_()


ASARRAY_GRAD = ("torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of "
                "False. Pass requires_grad=False explicitly to get the old behavior and silence this "
                "warning.")


def as_existing(obj, dtype):
    """(tensor, whether it holds a copy): the object by its own memory where it has one."""
    if isinstance(obj, Tensor):
        return obj, False
    if isinstance(obj, np.ndarray):
        return from_numpy(obj), False
    if isinstance(obj, np.generic):
        return tensor(obj), True
    if hasattr(obj, "__dlpack__"):
        return from_dlpack(obj), False
    if isinstance(obj, (bytes, bytearray, memoryview)):
        return frombuffer(obj, dtype=dtype or settings.default_dtype), False
    return tensor(obj, dtype=dtype), True


def check_alias(found, is_copy, dtype, device):
    if is_copy:
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    if dtype is not None and dtype is not found._dtype:
        raise ValueError(f"can't alias tensor with dtype '{dt.scalar_type_name(found._dtype)}' into dtype "
                         f"'{dt.scalar_type_name(dtype)}'.")
    if device is not None and as_device(device) != found._device:
        raise ValueError(f"can't alias tensor from device '{found._device}' to '{as_device(device)}'.")


for function in (from_numpy, as_tensor, asarray, frombuffer):
    publish(function.__name__, function, ("",))
for function in (numpy, __array__, __array_wrap__):
    method(function)


# ---- DLPack --------------------------------------------------------------------------------------

def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A DLPack capsule over the same memory. BufferError for tensors that require grad."""
    if tracks(self):
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    array = array_of(self)
    if max_version is None and not copy:
        return array.__dlpack__()
    return array.__dlpack__(max_version=max_version, copy=copy)


def __dlpack_device__(self):
    """DLPack's (device type, index): (1, 0), the CPU."""
    return array_of(self).__dlpack_device__()


class Capsule:
    """Hands a DLPack capsule to NumPy, which asks for an object with the protocol."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor over the memory of another library's array, or of a DLPack capsule."""
    source = ext_tensor if hasattr(ext_tensor, "__dlpack__") else Capsule(ext_tensor)
    array = np.from_dlpack(source)
    t = borrowed(array if array.flags.writeable else writable(array))
    t = t.clone() if copy else t
    return t if device is None else t.to(device)


def to_dlpack(tensor):
    """The tensor as a DLPack capsule."""
    return tensor.__dlpack__()


publish("from_dlpack", from_dlpack, ("",))
publish("to_dlpack", to_dlpack, ("",))
method(__dlpack__)
method(__dlpack_device__)


# ---- numbers -------------------------------------------------------------------------------------

def item(self):
    """The only element, as a Python number. RuntimeError if there is another number of elements."""
    if self.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    if self._device.type == "meta":
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")
    refuse_batched(self, ITEM)
    return reported(number_on_host, "item", (self,), {}) if observer.active else number_on_host(self)


def number_on_host(self):
    if entries_of(self) is not None:
        self = self.to_dense()
    return array_of(self.cpu()).item()


def tolist(self):
    """The elements as nested lists of Python numbers; a number for a 0-dim tensor."""
    refuse_batched(self, NO_STORAGE)
    array = array_of(self if self.is_meta else self.cpu())
    return array.astype(np.float32).tolist() if self._dtype is dt.bfloat16 else array.tolist()


def __bool__(self):
    if self.numel() != 1:
        count = "more than one value" if self.numel() else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {count} is ambiguous")
    refuse_batched(self, BRANCH)
    return bool(self.item())


def __int__(self):
    return int(only_element(self))


def __float__(self):
    return float(only_element(self))


def __complex__(self):
    return complex(only_element(self))


def __index__(self):
    if self.numel() != 1 or self._dtype.category == dt.FLOATING:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self.item())


for function in (item, tolist, __bool__, __int__, __float__, __complex__, __index__):
    method(function)


# ---- sequences -----------------------------------------------------------------------------------

def __len__(self):
    if not self._shape:
        raise TypeError("len() of a 0-d tensor")
    return self._shape[0]


def __iter__(self):
    """The slices along the first dimension."""
    if not self._shape:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def __reversed__(self):
    """The tensor with its first dimension flipped."""
    return self.flip(0) if self._shape else self


def __contains__(self, element):
    """Whether any element equals `element`, a number or a tensor that broadcasts."""
    if not isinstance(element, (Tensor, int, float, complex, np.generic)):
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")
    return bool((self == element).any().item())


for function in (__len__, __iter__, __reversed__, __contains__):
    method(function)


# ---- identity, listing ---------------------------------------------------------------------------

def __hash__(self):
    """Identity: tensors are equal element by element, and hash as the objects they are."""
    return id(self)


def __dir__(self):
    """All methods and attributes, without those that only tensors on a CUDA device have."""
    names = {*dir(type(self)), *self.__dict__}
    if not self.is_cuda:
        names.discard("__cuda_array_interface__")
    return sorted(names)


method(__hash__)
method(__dir__)


# ---- copies and pickles --------------------------------------------------------------------------

def __deepcopy__(self, memo):
    """A leaf over a copy of the whole storage; tensors that share a storage go on sharing the copy.

    RuntimeError for non-leaves that require grad: a copy could not be part of the graph.
    """
    if not self.is_leaf:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                           "protocol at the moment.  If you were attempting to deepcopy a module, this may "
                           "be because of a torch.nn.utils.weight_norm usage, see "
                           "https://github.com/pytorch/pytorch/pull/103001")
    if id(self) in memo:
        return memo[id(self)]
    if entries_of(self) is not None:
        copied = become_class(self.detach().clone(), type(self))
    else:
        storage = copy.deepcopy(storage_of(self), memo)
        copied = from_geometry(storage, self._shape, stride_of(self), self._offset, self._dtype, type(self))
    memo[id(self)] = copied
    if tracks(self):
        copied.requires_grad_()
        if self.grad is not None:
            copied.grad = copy.deepcopy(self.grad, memo)
    copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return copied


def become_class(t, cls):
    t.__class__ = cls
    return t


def rebuild_sparse_tensor(cls, indices, values, shape, is_coalesced):
    """The inverse of pickling a sparse tensor; as in PyTorch it asks for no gradient."""
    return become_class(from_entries(Entries(indices, values, is_coalesced), shape), cls)


def rebuild_tensor(cls, storage, offset, shape, stride, dtype, requires_grad):
    """The inverse of pickling."""
    t = from_geometry(storage, tuple(shape), tuple(stride), offset, dtype, cls)
    return t.requires_grad_() if requires_grad else t


def warn_if_has_hooks(t):
    """UserWarning for backward hooks: they would have to be pickled as code, and stay at home."""
    for hook in ((t._meta and t._meta.hooks) or {}).values():
        if not getattr(hook, "__torch_unserializable__", False):
            warnings.warn(f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can "
                          "decorate the function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                          stacklevel=2)


def __reduce_ex__(self, protocol):
    """Pickle the storage with the geometry: tensors that share a storage share it after loading."""
    warn_if_has_hooks(self)
    entries = entries_of(self)
    if entries is not None:
        parts = entries.indices, entries.values, self._shape, entries.is_coalesced
        return rebuild_sparse_tensor, (type(self), *parts), self.__dict__ or None
    where = storage_of(self), self._offset, self._shape, stride_of(self)
    arguments = (type(self), *where, self._dtype, tracks(self))
    return rebuild_tensor, arguments, self.__dict__ or None


for function in (__deepcopy__, __reduce_ex__):
    method(function)
