"""Tensors in shared memory: share_memory_, is_shared; and storage(), which older code shares."""
from ..core.once import warn_once
from ..memory.typed_storage import TypedStorage
from ..tensor import method, share_memory, storage_of

DEPRECATED = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
    "class. This should only matter to you if you are using storages directly.  To access UntypedStorage "
    "directly, use tensor.untyped_storage() instead of tensor.storage()"
)


def share_memory_(self):
    """Move the tensor's storage to memory that other processes can be given; returns self.

    The whole storage moves, and every tensor over it with it. Nothing happens if it is shared already. An
    array that numpy() gave before keeps looking at the old memory. Tensors on cuda stay as they are;
    RuntimeError for other devices. https://pytorch.org/docs/stable/generated/torch.Tensor.share_memory_.html
    """
    if not self.is_cuda:
        share_memory(self)
    return self


def is_shared(self):
    """Whether the tensor's storage is in shared memory; always so on cuda, as in PyTorch."""
    return self.is_cuda or storage_of(self).is_shared()


def storage(self):
    """The storage as elements of the tensor's dtype. UserWarning, once: `untyped_storage()` is the one to use."""
    warn_once("TypedStorage", DEPRECATED)
    return TypedStorage(self.untyped_storage(), self._dtype)


for function in (share_memory_, is_shared, storage):
    method(function)
