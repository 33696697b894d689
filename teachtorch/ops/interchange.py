"""Tensors and the world outside: NumPy, DLPack, and the protocols of Python (numbers, sequences, copies, pickles)."""
import copy
import warnings

import numpy as np

from ..autograd.meta import tracks
from ..core import dtype as dt
from ..core.device import as_device
from ..tensor import Tensor, array_of, from_array, from_geometry, method, same_memory, storage_of, stride_of
from .declare import publish
from .sequences import check_ndarray

_NOT_WRITABLE = (
    "The given {what} is not writable, and PyTorch does not support non-writable tensors. This means writing to this "
    "tensor will result in undefined behavior. You may want to copy the array to protect its data or make it writable "
    "before converting it to a tensor. This type of warning will be suppressed for the rest of this program.")


# ---- NumPy ------------------------------------------------------------------------------------------------------

def numpy(self, *, force=False):
    """An array over the same memory: changes are seen on both sides.

    `force`: detach and copy to the CPU first where that is needed. RuntimeError for tensors that require grad,
    TypeError for tensors on other devices and for bfloat16.
    """
    if force:
        self = self.detach().cpu()
    if tracks(self):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if self._device.type != "cpu":
        raise TypeError(f"can't convert {self._device} device type tensor to numpy. Use Tensor.cpu() to copy the "
                        "tensor to host memory first.")
    if self._dtype is dt.bfloat16:
        raise TypeError("Got unsupported ScalarType BFloat16")
    return shared_array(self)


def shared_array(t):
    """An array of its own over the tensor's memory, so that reshaping the one in place leaves the other alone.

    The memory is held as a storage from here on, so that both sides keep seeing the same bytes.
    """
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
        warn_once("NumPy array")
        return from_array(writable(ndarray))
    return from_array(ndarray.view(np.ndarray))


_warned = set()


def warn_once(what):
    """PyTorch warns of memory that must not be written once per program."""
    if what not in _warned:
        _warned.add(what)
        warnings.warn(_NOT_WRITABLE.format(what=what), UserWarning, stacklevel=3)


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
    """Results of NumPy functions on tensors become tensors; predicates are kept as bool."""
    return from_numpy(np.asarray(array))


publish("from_numpy", from_numpy, ("",))
for function in (numpy, __array__, __array_wrap__):
    method(function)


# ---- numbers ----------------------------------------------------------------------------------------------------

def item(self):
    """The only element, as a Python number. RuntimeError if there is another number of elements."""
    if self.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    if self._device.type == "meta":
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")
    return array_of(self.cpu()).item()


def tolist(self):
    """The elements as nested lists of Python numbers; a number for a 0-dim tensor."""
    array = array_of(self.cpu())
    return array.astype(np.float32).tolist() if self._dtype is dt.bfloat16 else array.tolist()


def __bool__(self):
    if self.numel() != 1:
        count = "more than one value" if self.numel() else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {count} is ambiguous")
    return bool(self.item())


def only_element(t):
    """The element, for Python's conversions."""
    if t.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    if t._meta is not None and tracks(t):
        warnings.warn("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
                      "Consider using tensor.detach() first.", UserWarning, stacklevel=3)
    return t.item()


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


# ---- sequences --------------------------------------------------------------------------------------------------

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
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")
    return bool((self == element).any().item())


for function in (__len__, __iter__, __reversed__, __contains__):
    method(function)


# ---- identity, listing ------------------------------------------------------------------------------------------

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


# ---- copies and pickles -----------------------------------------------------------------------------------------

def __deepcopy__(self, memo):
    """A leaf over a copy of the whole storage; tensors that share a storage go on sharing the copy.

    RuntimeError for non-leaves that require grad: a copy could not be part of the graph.
    """
    if not self.is_leaf:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
                           "at the moment.  If you were attempting to deepcopy a module, this may be because of a "
                           "torch.nn.utils.weight_norm usage, see "
                           "https://github.com/pytorch/pytorch/pull/103001")
    if id(self) in memo:
        return memo[id(self)]
    storage = copy.deepcopy(storage_of(self), memo)
    copied = from_geometry(storage, self._shape, stride_of(self), self._offset, self._dtype, type(self))
    memo[id(self)] = copied
    if tracks(self):
        copied.requires_grad_()
        if self.grad is not None:
            copied.grad = copy.deepcopy(self.grad, memo)
    copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return copied


def rebuild_tensor(cls, storage, offset, shape, stride, dtype, requires_grad):
    """The inverse of pickling."""
    t = from_geometry(storage, tuple(shape), tuple(stride), offset, dtype, cls)
    return t.requires_grad_() if requires_grad else t


def __reduce_ex__(self, protocol):
    """Pickle the storage with the geometry: tensors that share a storage share it after loading."""
    arguments = (type(self), storage_of(self), self._offset, self._shape, stride_of(self), self._dtype, tracks(self))
    return rebuild_tensor, arguments, self.__dict__ or None


for function in (__deepcopy__, __reduce_ex__):
    method(function)
