"""Objects to pickles: as Python does it, but tensors and what belongs to them as PyTorch does."""
import pickle
from collections import OrderedDict
from types import BuiltinFunctionType, FunctionType

from ..core.device import device
from ..core.dtype import dtype, uint8
from ..core.layout import layout
from ..memory.storage import UntypedStorage
from ..memory.typed_storage import TypedStorage
from ..dispatch.overriding import dispatching
from ..ops.interchange import warn_if_has_hooks
from ..tensor import Tensor, storage_of, stride_of
from . import names, rebuild
from .locations import location_tag

NAMED = (type, FunctionType, BuiltinFunctionType, dtype, names.StorageType)
TWO_DTYPES = "Cannot save multiple tensors or storages that view the same data as different types"


class Pickler(pickle._Pickler):
    """Writes PyTorch's names for our classes, and a number for each storage; `storages` has the bytes to write.

    It extends Python's own pickler written in Python: the one written in C insists on names that can be imported.
    """

    def __init__(self, file, protocol):
        super().__init__(file, protocol)
        self.storages = []                       # TypedStorages; a storage's key in the file is its index
        self._keys = {}

    def persistent_id(self, obj):
        """What stands in the pickle for a storage; None for all other objects."""
        if isinstance(obj, UntypedStorage):
            return self._storage_id(TypedStorage(obj, uint8), UntypedStorage, obj.nbytes())
        if not isinstance(obj, TypedStorage):
            return None
        kind, numel = names.STORAGE_TYPES[obj.dtype], obj.untyped().nbytes() // obj.dtype.itemsize
        return self._storage_id(obj, kind, numel)

    def _storage_id(self, typed, kind, numel):
        return "storage", kind, str(self._key(typed)), location_tag(typed.untyped()), numel

    def _key(self, typed):
        storage = typed.untyped()
        where = (storage.data_ptr(), storage.nbytes()) if storage.data_ptr() else id(storage)
        if where not in self._keys:
            self._keys[where] = len(self.storages)
            self.storages.append(typed)
        elif storage.data_ptr() and self.storages[self._keys[where]].dtype is not typed.dtype:
            raise RuntimeError(TWO_DTYPES)
        return self._keys[where]

    def reducer_override(self, obj):
        """How to make an object again, where that differs from Python's way."""
        if isinstance(obj, Tensor):
            return reduced_tensor(obj)
        if isinstance(obj, device):
            return device, (obj.type,) if obj.index is None else (obj.type, obj.index)
        if isinstance(obj, layout):
            return names.layout_of, (str(obj),)
        if isinstance(obj, NAMED) and names.path_of(obj):
            return names.path_of(obj)
        return NotImplemented

    def save_global(self, obj, name=None):
        """Write a name: PyTorch's if there is one."""
        path = names.path_of(obj)
        if path is None:
            super().save_global(obj, name)
            return
        module, _, attribute = path.rpartition(".")
        self.write(pickle.GLOBAL + f"{module}\n{attribute}\n".encode())
        self.memoize(obj)


def reduced_tensor(t):
    """(function, arguments) that make a tensor, parameter or subclass again."""
    state = t.__dict__
    if t.is_sparse:
        return on_entries(t)
    if dispatching[type(t)] and not t.is_meta and storage_of(t).buffer is None:
        made_by = type(t), t._dtype, t._shape, stride_of(t), t._offset, t.layout, t._device, t.requires_grad
        return rebuild.of_type, (rebuild.wrapper, type(t), made_by, state)
    if isinstance(t, names.parameter_class):
        name = "torch._utils._rebuild_parameter" + ("_with_state" if state else "")
        arguments = t.detach(), t.requires_grad, OrderedDict()
        return names.MEANINGS[name], (*arguments, state) if state else arguments
    warn_if_has_hooks(t)
    function, arguments = on_meta(t) if t.is_meta else on_storage(t)
    cls = Tensor if type(t) in names.saved_as_tensor else type(t)
    if cls is Tensor and not state:
        return function, arguments
    return rebuild.of_type, (function, cls, arguments, state)


def on_entries(t):
    """A sparse tensor: its layout, and what it holds.

    As in PyTorch it is loaded as a plain one that asks for no gradient.
    """
    return rebuild.sparse_tensor, (t.layout, (t._indices(), t._values(), t.shape, t.is_coalesced()))


def on_storage(t):
    where = TypedStorage(storage_of(t), t._dtype), t._offset, t._shape, stride_of(t)
    return rebuild.tensor_v2, (*where, t.requires_grad, OrderedDict())


def on_meta(t):
    return rebuild.tensor_on_meta, (t._dtype, t._shape, stride_of(t), t.requires_grad)
