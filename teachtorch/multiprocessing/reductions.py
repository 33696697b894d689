"""How a tensor travels to another process: its storage as a handle, itself as (offset, size, stride, requires_grad).

    sender     storage -> shared memory (once) -> handle --+
               tensor  -> offset, size, stride, ... -------+--> pickle --> pipe, queue, arguments of a process
    receiver   handle  -> the storage it has already, or a mapping of the same memory
               tensor  -> a view of that storage

Nothing of the data is in the pickle. `.grad`, hooks and history stay at home.
"""
import multiprocessing.resource_sharer  # noqa: F401  (the DupFd below needs it; importing it while forking is unsafe)
import weakref
from multiprocessing import reduction

import numpy as np

from ..autograd.meta import tracks
from ..core.device import CPU
from ..memory import shared
from ..memory.storage import UntypedStorage
from ..nn import Buffer, Parameter
from ..ops.interchange import warn_if_has_hooks
from ..tensor import (
    Entries,
    Tensor,
    entries_of,
    from_entries,
    from_geometry,
    meta_tensor,
    share_memory,
    storage_of,
    stride_of,
)

NON_LEAF = ("Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue).")

_known = weakref.WeakValueDictionary()       # key of shared memory -> this process's storage over it


def init_reductions():
    """Tell multiprocessing's pickler about tensors."""
    for kind in (Tensor, Parameter, Buffer):
        reduction.register(kind, reduce_tensor)
    reduction.register(UntypedStorage, reduce_storage)


# ---- tensors -----------------------------------------------------------------------------------------------

def reduce_tensor(t):
    """Pickle a tensor. RuntimeError for one with history: a graph ends at the process."""
    if tracks(t) and not t.is_leaf:
        raise RuntimeError(NON_LEAF)
    warn_if_has_hooks(t)
    kind = Parameter if isinstance(t, Parameter) else Tensor
    if (entries := entries_of(t)) is not None:
        return rebuild_sparse_tensor, (entries.indices, entries.values.detach(), entries.is_coalesced, t._shape)
    if t.is_meta:
        return rebuild_meta_tensor, (kind, t._shape, stride_of(t), t._dtype, tracks(t))
    if storage_of(t).nbytes():
        share_memory(t)
    metadata = t._offset, t._shape, stride_of(t), t._dtype, tracks(t)
    return rebuild_tensor, (kind, storage_of(t), metadata)


def rebuild_tensor(kind, storage, metadata):
    """The tensor, in the process that got it."""
    offset, shape, stride, dtype, requires_grad = metadata
    return as_kind(kind, from_geometry(storage, shape, stride, offset, dtype), requires_grad)


def rebuild_sparse_tensor(indices, values, is_coalesced, shape):
    """A sparse tensor over its parts, which are shared. As in PyTorch it asks for no gradient."""
    return from_entries(Entries(indices, values, is_coalesced), shape)


def rebuild_meta_tensor(kind, shape, stride, dtype, requires_grad):
    """A tensor without data."""
    return as_kind(kind, meta_tensor(shape, dtype, stride), requires_grad)


def as_kind(kind, t, requires_grad):
    """A Parameter or a plain tensor."""
    return kind(t, requires_grad) if kind is Parameter else t.requires_grad_(requires_grad)


# ---- storages ----------------------------------------------------------------------------------------------

def reduce_storage(storage):
    """Pickle a storage: a handle to its memory, which is shared from now on. RuntimeError for meta."""
    if storage.device.type == "meta":
        raise RuntimeError("Cannot pickle meta storage; try pickling a meta tensor instead")
    if not storage.nbytes():
        return rebuild_empty_storage, ()
    where = storage.share_memory_().shared
    _known[where.key] = storage
    if isinstance(where, shared.Name):
        where.announce()
        return rebuild_named_storage, (where.name, where.nbytes)
    return rebuild_descriptor_storage, (reduction.DupFd(where.fd), where.nbytes)


def rebuild_empty_storage():
    """A storage without bytes."""
    return UntypedStorage(np.empty(0, np.uint8), CPU)


def rebuild_descriptor_storage(handle, nbytes):
    """The storage behind a descriptor that comes from the sender, which must still be there."""
    where = shared.Descriptor(handle.detach(), nbytes)
    return _known.get(where.key) or new_storage(where)


def rebuild_named_storage(name, nbytes):
    """The storage behind a name."""
    storage = _known.get(name)
    if storage is None:
        return new_storage(shared.Name(name, nbytes))
    storage.shared.arrive()
    return storage


def new_storage(where):
    """A storage over shared memory, remembered: the same memory is mapped once, however often it comes."""
    storage = UntypedStorage(where.map(), CPU)
    storage.become_shared(where)
    return _known.setdefault(where.key, storage)
