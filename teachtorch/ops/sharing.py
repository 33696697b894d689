"""Tensors in shared memory: share_memory_, is_shared."""
from ..tensor import method, share_memory, storage_of


def share_memory_(self):
    """Move the tensor's storage to memory that other processes can be given; returns self.

    The whole storage moves, and every tensor over it with it. Nothing happens if it is shared already. An array that
    numpy() gave before keeps looking at the old memory. RuntimeError for tensors that are not on the CPU.
    https://pytorch.org/docs/stable/generated/torch.Tensor.share_memory_.html
    """
    share_memory(self)
    return self


def is_shared(self):
    """Whether the tensor's storage is in shared memory."""
    return storage_of(self).is_shared()


for function in (share_memory_, is_shared):
    method(function)
