"""`Tensor`: a way of looking at a storage.

    storage + offset + shape + stride + dtype        where the elements are
    key set                                          which kernels may touch it (dispatch/)
    autograd meta                                    grad, grad_fn, output_nr (autograd/), None while not needed

A CPU tensor is kept in one of two equal forms, and turns into the other when asked:
    the array form     `_array`, an ndarray: what a kernel has just returned, and what the next one wants
    the geometry form  `_storage, _offset, _stride`: what a view operation computes
So a chain of views never makes an array, and a chain of kernels never makes a storage.

A sparse tensor (layout torch.sparse_coo) has neither. In the place of its storage stands an `Entries`: the indices of
what is not zero, and the values there, two ordinary tensors. Its key is SparseCPU; kernels for strided memory never
see it.

This file knows no operator. Methods and Python operators are attached by ops/ and autograd/ with `method`.
"""
import gc
import threading
from operator import index as as_index
from sys import getrefcount

import numpy as np

from .core import device as devices
from .core import dtype as dtypes
from .core import geometry
from .memory import storage as storages
from .memory.runtime import runtime_of
from .memory.storage import UntypedStorage, VersionCounter, bytes_of

class NewKeys(threading.local):
    """The key set that a new tensor gets, by device type; dispatch/keys.py and inference_mode set it."""


new_keys = NewKeys()
inference_keys = {}                 # device type -> the key set of tensors made in inference mode


class Size(tuple):
    """The shape of a tensor: a tuple of ints that prints as PyTorch's torch.Size."""

    __slots__ = ()

    def __new__(cls, sizes=()):
        return tuple.__new__(cls, [n if n.__class__ is int else as_size(i, n) for i, n in enumerate(sizes)])

    def numel(self):
        """The product of the sizes."""
        return geometry.numel(self)

    def __repr__(self):
        return f"torch.Size({list(self)})"

    def __getitem__(self, index):
        item = tuple.__getitem__(self, index)
        return _size(Size, item) if isinstance(index, slice) else item

    def __add__(self, other):
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other):
        return Size(tuple(other) + tuple(self))

    def __mul__(self, times):
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self):
        return Size, (tuple(self),)


_size = tuple.__new__           # of what surely is a shape, without looking at each size


def as_size(place, n):
    """A size that is no int itself: a bool, an integer of NumPy, a tensor of one integer. TypeError for the rest."""
    if isinstance(n, (int, np.integer)):
        return int(n)
    try:
        return as_index(n)
    except TypeError:
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {place} is '{type(n).__name__}')") from None


class ViewMeta:
    """What a view remembers: its root base, the version at which its grad_fn was right, and how it was made.

    `creation` is None, or one of the reasons of autograd/views.py that forbid changing the view in place.
    """

    __slots__ = ("base", "version", "creation")

    def __init__(self, base, version, creation=None):
        self.base = base
        self.version = version
        self.creation = creation


class Tensor:
    """An n-dimensional array of one dtype on one device, with PyTorch's interface."""

    __slots__ = ("_array", "_storage", "_offset", "_shape", "_stride", "_dtype", "_device", "_keys",
                 "_counter", "_view", "_meta", "__dict__", "__weakref__")

    # Tensor wins over ndarray in `ndarray + tensor`.
    __array_priority__ = 1000

    # ---- metadata ---------------------------------------------------------------------------------------------

    @property
    def shape(self):
        """The sizes, as a Size."""
        return _size(Size, self._shape)

    def size(self, dim=None):
        """The Size, or the length of one dimension."""
        if dim is None:
            return _size(Size, self._shape)
        if not self._shape:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return self._shape[geometry.wrap_dim(dim, len(self._shape))]

    def stride(self, dim=None):
        """Distance in elements between neighbours along each dimension, or along `dim`."""
        strides = stride_of(self)
        return strides if dim is None else strides[geometry.wrap_dim(dim, len(strides))]

    def storage_offset(self):
        """Index in the storage, in elements, of the first element."""
        return self._offset

    def untyped_storage(self):
        """The bytes that this tensor looks at, shared with its views."""
        if self._storage.__class__ is Entries:
            raise NotImplementedError("Cannot access storage of SparseTensorImpl")
        return storage_of(self)

    def data_ptr(self):
        """Address of the first element; 0 where there are no elements or no data (meta)."""
        if self._device.type == "meta" or not self.numel():
            return 0
        if self._device.type != "cpu":
            return self._storage.address() + self._offset * self._dtype.itemsize
        if self._array is None and self._storage.buffer is None and self._storage.__class__ is not Entries:
            return 0
        return array_of(self).__array_interface__["data"][0]

    def dim(self):
        """The number of dimensions."""
        return len(self._shape)

    ndimension = dim

    @property
    def ndim(self):
        """How many dimensions there are."""
        return len(self._shape)

    def numel(self):
        """The number of elements."""
        return geometry.numel(self._shape)

    nelement = numel

    @property
    def dtype(self):
        """The type of the elements."""
        return self._dtype

    @property
    def device(self):
        """The device that holds the elements."""
        return self._device

    @property
    def itemsize(self):
        """Bytes per element."""
        return self._dtype.itemsize

    def element_size(self):
        """Bytes per element."""
        return self._dtype.itemsize

    @property
    def nbytes(self):
        """Bytes that the elements take, without gaps between them."""
        if self._storage.__class__ is Entries:
            raise RuntimeError("nbytes is not defined for sparse tensors.  If you want the size of the constituent "
                               "tensors, add the nbytes of the indices and values.  If you want the size of the  "
                               "equivalent dense tensor, multiply numel() by element_size()")
        return self.numel() * self._dtype.itemsize

    @property
    def is_meta(self):
        """Whether there are no elements, only a shape and a dtype."""
        return self._device.type == "meta"

    @property
    def is_cuda(self):
        """Whether the elements lie on a `cuda` device."""
        return self._device.type == "cuda"

    @property
    def is_sim(self):
        """Whether the elements lie on the simulated device."""
        return self._device.type == "sim"

    @property
    def is_cpu(self):
        """Whether the elements lie in the memory of the host."""
        return self._device.type == "cpu"

    def get_device(self):
        """The device's index, -1 on the CPU."""
        return -1 if self._device.index is None else self._device.index

    def is_floating_point(self):
        """Whether the dtype is floating."""
        return self._dtype.is_floating_point

    def is_complex(self):
        """Whether the dtype is complex; there is none here."""
        return False

    def is_signed(self):
        """Whether the dtype has negative numbers."""
        return self._dtype.is_signed

    @property
    def _version(self):
        """How often this storage's lineage was changed in place."""
        if self.is_inference():
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self._counter is None else self._counter.value

    @property
    def _base(self):
        """The root tensor that this one is a view of, or None."""
        return None if self._view is None else self._view.base

    def _is_view(self):
        return self._view is not None

    def is_inference(self):
        """Whether the tensor was made under inference_mode, and so has neither versions nor a graph."""
        return self._keys in (inference_keys[self._device.type], inference_keys["sparse_cpu"])


# ---- making tensors (for kernels and ops; users call the factory functions of ops/creation.py) -----------------

_new = object.__new__


def from_array(array, dtype=None, cls=Tensor):
    """A CPU tensor in array form over `array`'s own memory.

    `dtype`: the array's dtype as a teachtorch dtype, if the caller has it at hand.
    """
    t = _new(cls)
    t._array = array
    t._storage = None
    t._offset = 0
    t._shape = array.shape
    t._stride = None
    t._dtype = dtype or dtypes.OF_NUMPY.get(array.dtype) or dtypes.from_numpy(array.dtype)
    t._device = devices.CPU
    t._keys = new_keys.cpu
    t._counter = None
    t._view = None
    t._meta = None
    return t


def from_geometry(storage, shape, stride, offset, dtype, cls=Tensor):
    """A tensor in geometry form: `shape`, `stride` and `offset` in elements into `storage`."""
    t = _new(cls)
    t._array = None
    t._storage = storage
    t._offset = offset
    t._shape = shape
    t._stride = stride
    t._dtype = dtype
    t._device = storage.device
    t._keys = getattr(new_keys, storage.device.type)
    t._counter = None
    t._view = None
    t._meta = None
    return t


class Entries:
    """What a sparse tensor has in the place of a storage: the entries that are kept; all other elements are zero.

    `indices`: int64 of shape (sparse dims, entries), the place of each entry, and `values`: (entries, *dense dims),
    what is there. Entries at one place count together. `is_coalesced`: whether it is known that no place occurs twice
    and the places ascend. An Entries never changes: an operator that changes a sparse tensor gives it another one.
    """

    __slots__ = ("indices", "values", "is_coalesced")
    buffer = None                      # there is no memory in which all elements lie
    is_resizable = False

    def __init__(self, indices, values, is_coalesced):
        self.indices = indices
        self.values = values
        self.is_coalesced = is_coalesced

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError("Cannot access storage of SparseTensorImpl")


def from_entries(entries, shape):
    """A sparse tensor of its entries. As in PyTorch its strides are all 0."""
    t = _new(Tensor)
    t._array = None
    t._storage = entries
    t._offset = 0
    t._shape = tuple(shape)
    t._stride = (0,) * len(t._shape)
    t._dtype = entries.values._dtype
    t._device = devices.CPU
    t._keys = new_keys.sparse_cpu
    t._counter = None
    t._view = None
    t._meta = None
    return t


def entries_of(t):
    """The entries of a sparse tensor; None for a strided one."""
    return t._storage if t._storage.__class__ is Entries else None


def meta_tensor(shape, dtype, stride=None):
    """A tensor with a shape and no data, on the meta device; contiguous unless a stride is given."""
    shape = tuple(shape)
    stride = geometry.contiguous_strides(shape) if stride is None else stride
    extent = geometry.storage_extent(shape, stride, 0) * dtype.itemsize
    return from_geometry(UntypedStorage(None, devices.META, extent), shape, stride, 0, dtype)


def alias(t, shape, stride, offset, dtype=None):
    """A tensor over the same storage and version counter as `t`, with another geometry. Not yet a view to autograd."""
    new = from_geometry(storage_of(t), shape, stride, offset, dtype or t._dtype)
    new._keys = t._keys
    new._counter = counter_of(t)
    return new


def same_memory(t):
    """`alias` with the same geometry: what detach() and saved results are."""
    new = _new(Tensor)
    new._array = t._array
    new._storage = t._storage
    new._offset = t._offset
    new._shape = t._shape
    new._stride = t._stride
    new._dtype = t._dtype
    new._device = t._device
    new._keys = t._keys
    new._counter = counter_of(t)
    new._view = None
    new._meta = None
    return new


def adopt(t, source):
    """Make `t` look where `source` looks (its storage, geometry and dtype); autograd fields and versions stay."""
    for field in ("_array", "_storage", "_offset", "_shape", "_stride", "_dtype", "_device", "_keys"):
        setattr(t, field, getattr(source, field))


def resize_elements(t, shape, stride):
    """Give `t` another shape and stride in its storage, which grows if it must, without being initialised."""
    needed = geometry.storage_extent(shape, stride, t._offset) * t._dtype.itemsize
    if needed > storage_of(t).nbytes():
        _grow(t, needed)
    t._shape, t._stride, t._array = shape, stride, None


# ---- from one form to the other -------------------------------------------------------------------------------

def array_of(t):
    """The ndarray over a tensor's elements (no copy on the CPU). Asked of an accelerator's tensor, the host waits."""
    array = t._array
    if array is None:
        if t._device.type != "cpu":
            return _array_on_device(t)
        array = t._array = _build_array(t, t._storage.buffer)
    return array


def _array_on_device(t):
    """The elements as the host sees them once the current stream is done. Not kept: kernels may change them."""
    if t._device.type == "meta":
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    return _build_array(t, t._storage.read())


def _build_array(t, buffer):
    if 0 in t._shape:
        return np.empty(t._shape, t._dtype.numpy)
    if buffer is None:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
    size = t._dtype.itemsize
    strides = tuple([s * size for s in t._stride])
    return np.ndarray(t._shape, t._dtype.numpy, buffer, t._offset * size, strides)


def storage_of(t):
    """The storage; made from the array's memory when first asked for."""
    if t._storage is None:
        t._storage = UntypedStorage(bytes_of(t._array), t._device)
    return t._storage


def stride_of(t):
    """The strides in elements."""
    stride = t._stride
    if stride is None:
        stride = t._stride = _stride_of_array(t._array)
    return stride


def _stride_of_array(array):
    # NumPy leaves the strides of size-1 and empty dimensions open; PyTorch defines them.
    if array.flags.c_contiguous:
        return geometry.contiguous_strides(array.shape)
    size = array.itemsize
    return tuple([s // size for s in array.strides])


def counter_of(t):
    """The version counter; made when first shared or bumped."""
    if t._counter is None:
        t._counter = VersionCounter()
    return t._counter


# ---- memory that moves: resize_, share_memory_ ------------------------------------------------------------------
#
# Cached arrays look at memory, not at a storage. When a storage gets other memory they are found and dropped: a search
# among all living objects, so that nobody pays for it while nothing moves.

def _grow(t, nbytes):
    if t._device.type != "cpu":
        t._storage.resize_(nbytes)
        return
    t._storage.check_resizable()
    move_memory(t, runtime_of("cpu").malloc(nbytes), nbytes)


def move_memory(t, buffer, nbytes, is_filled=False):
    """Move the storage of `t` to `buffer`. The search for tensors that must follow is left out if there are none.

    `is_filled`: the bytes are there already.
    """
    if not is_alone(t):
        return storage_of(t).move_to(buffer, nbytes, is_filled)
    storage = storage_of(t)
    _forget_array(t)
    storage.replace(buffer, nbytes, is_filled)


def share_memory(t):
    """Move the storage of `t` to shared memory, if it is not there yet."""
    storage = storage_of(t)
    if storage.shared is None:
        shared = storage.shared_copy()
        del storage                      # is_alone counts references
        move_memory(t, shared.map(), shared.nbytes, is_filled=True)
        t._storage.become_shared(shared)


def _follow(storage, old):
    """Every tensor that looks at `old`, the storage's former memory, looks at the storage again."""
    if old is None:
        return
    root, start = root_of(old), _address(old)
    for t in living_tensors():
        if t._storage is storage:
            _forget_array(t)
        elif (place := _place_in(t, root, start, old.nbytes)) is not None:
            stride_of(t)
            t._storage, t._offset, t._array = storage, place // t._dtype.itemsize, None


storages.followers.append(_follow)


def _place_in(t, root, start, nbytes):
    """In which byte of a stretch of memory a tensor with a storage object of its own begins; None if elsewhere.

    A detached tensor is such a one. Tensors over a user's array are not: that memory is theirs.
    """
    if t._storage is not None and not t._storage.is_resizable or not t.numel() or t._device.type != "cpu":
        return None
    if t._array is None and (type(t._storage) is not UntypedStorage or t._storage.buffer is None):
        return None                # a wrapper has no memory
    array = array_of(t)
    place = _address(array) - start
    return place if root_of(array) is root and 0 <= place < nbytes else None


def _forget_array(t):
    stride_of(t)
    t._array = None


def _address(array):
    return array.__array_interface__["data"][0]


def root_of(array):
    """The array that owns the memory, or that borrows it from something that is no array."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def living_tensors():
    """All tensors of the process that Python's garbage collector knows of.

    Less those that a thread is just making, and uninitialized parameters: they are empty and refuse to show a storage.
    """
    kinds = {Tensor}
    for kind in (waiting := [Tensor]):
        kinds.update(found := [k for k in kind.__subclasses__() if k._storage is Tensor._storage])
        waiting.extend(found)
    return [thing for thing in gc.get_objects() if type(thing) in kinds and hasattr(thing, "_meta")]


def is_alone(t):
    """Whether no other tensor and no array of a user's looks at the memory of `t`; False if in doubt."""
    array, storage = t._array, t._storage
    buffer = None if storage is None else storage.buffer
    if storage is not None and (buffer is None or getrefcount(storage) > 3):
        return False                    # three: the slot of t, the name here, getrefcount's argument
    root = root_of(buffer if array is None else array)
    if root.base is not None:
        return False
    if array is not None and array is not root and getrefcount(array) > 3:
        return False
    if buffer is not None and buffer is not root and getrefcount(buffer) > 3:
        return False
    return getrefcount(root) == _references(array, root) + _references(buffer, root) + 2


def _references(looker, root):
    """How often is_alone's `looker` and what holds it refer to `root`: by slot and name, or by its base."""
    return 0 if looker is None else 2 if looker is root else 1


# ---- attaching methods ----------------------------------------------------------------------------------------

def method(function, name=None):
    """Make a function of a tensor a method of Tensor too. Used as a decorator or a call."""
    setattr(Tensor, name or function.__name__, function)
    return function
