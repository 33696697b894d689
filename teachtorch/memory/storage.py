"""Storage: the bytes that tensors look at; VersionCounter: how often they were changed in place.

A tensor never owns memory: it is (storage, offset, sizes, strides, dtype), and many tensors may share one storage.
"""
import numpy as np

from ..core.device import CPU
from .runtime import runtime_of

followers = []                      # called with a storage whose memory has moved; tensor.py: tensors look there again



class VersionCounter:
    """Counts the in-place changes of one lineage of storage; shared by a tensor, its views and its detach()es.

    `value` is what `tensor._version` shows. Paper section 4.3: a saved tensor whose version moved is an error.
    """

    __slots__ = ("value",)

    def __init__(self, value=0):
        self.value = value


class UntypedStorage:
    """A stretch of memory on one device. `buffer` is a flat uint8 array over it (None on meta).

    `shared`: how other processes find the memory, where they can (memory/shared.py), else None.
    """

    __slots__ = ("buffer", "device", "is_resizable", "is_pinned_memory", "shared", "_nbytes", "__weakref__")

    def __init__(self, buffer=0, device=None, nbytes=None):
        if device is None:               # a user's: a size in bytes, or the bytes
            buffer, device = new_bytes(buffer), CPU
        self.buffer = buffer
        self.device = device
        self.is_resizable = True         # until an array looks at the same memory
        self.is_pinned_memory = False    # of the CPU: whether an accelerator may copy while the host goes on
        self.shared = None
        self._nbytes = buffer.nbytes if nbytes is None else nbytes

    def nbytes(self):
        """Size in bytes."""
        return self._nbytes

    size = nbytes

    def __len__(self):
        return self._nbytes

    def data_ptr(self):
        """Address of the first byte; 0 on meta and for no bytes, as in PyTorch."""
        if self.buffer is None or not self._nbytes:
            return 0
        return self.buffer.__array_interface__["data"][0]

    def read(self):
        """The bytes as the host sees them, a flat uint8 array; of an accelerator's storage once it is done."""
        return self.buffer

    def tolist(self):
        """The bytes, as Python ints."""
        return self.buffer.tolist()

    def __getitem__(self, index):
        if isinstance(index, slice):
            return UntypedStorage(self.buffer[index], self.device)
        return self.buffer[self._checked(index)].item()

    def __setitem__(self, index, value):
        self.buffer[index if isinstance(index, slice) else self._checked(index)] = value

    def _checked(self, index):
        if not -self._nbytes <= index < self._nbytes:
            raise IndexError(f"index {index} out of range for storage of size {self._nbytes}")
        return index

    def fill_(self, value):
        """Set every byte; returns self."""
        self.buffer[:] = value
        return self

    def copy_(self, source, non_blocking=False):
        """Take the bytes of another storage of the same size; returns self."""
        self.buffer[:] = source.buffer
        return self

    def element_size(self):
        """1: the elements are bytes."""
        return 1

    def is_pinned(self, device=None):
        """Whether an accelerator may copy while the host goes on."""
        return self.is_pinned_memory

    @property
    def is_cuda(self):
        """Whether the bytes are on a GPU."""
        return self.device.type == "cuda"

    @property
    def _cdata(self):
        """A number that is the same for tensors over one storage, and for no others."""
        return id(self)

    def cpu(self):
        """The storage if it is the CPU's, else a copy there."""
        return self if self.device.type == "cpu" else UntypedStorage(self.read().copy(), CPU)

    def clone(self):
        """A copy in fresh memory."""
        runtime = runtime_of(self.device.type)
        copy = runtime.malloc(self._nbytes)
        runtime.copy(copy, self.buffer)
        return UntypedStorage(copy, self.device, self._nbytes)

    def resize_(self, nbytes):
        """Grow or shrink to `nbytes`, keeping what fits. The address changes; every tensor on it follows.

        RuntimeError if an array looks at this memory too: it would be left behind.
        """
        self.check_resizable()
        self.move_to(runtime_of(self.device.type).malloc(nbytes), nbytes)
        return self

    def check_resizable(self):
        """RuntimeError if the memory may not move."""
        if not self.is_resizable:
            raise RuntimeError("Trying to resize storage that is not resizable")

    def move_to(self, buffer, nbytes, is_filled=False):
        """Keep the bytes in `buffer` from now on, as many as fit. Every tensor that looks at them looks there.

        `is_filled`: they are there already.
        """
        old = self.buffer
        self.replace(buffer, nbytes, is_filled)
        for follow in followers:
            follow(self, old)

    def replace(self, buffer, nbytes, is_filled=False):
        """`move_to` for whoever knows which tensors have to follow."""
        old, kept = self.buffer, min(self._nbytes, nbytes)
        if old is not None and not is_filled:
            runtime_of(self.device.type).copy(buffer[:kept], old[:kept])
        self.buffer, self._nbytes = buffer, nbytes

    # ---- shared with other processes ----------------------------------------------------------------------------

    def is_shared(self):
        """Whether other processes can be given this memory, without a copy."""
        return self.shared is not None

    def share_memory_(self):
        """Move to shared memory, if it is not there yet; every tensor on it follows. Returns self.

        RuntimeError for memory that is not the CPU's. https://pytorch.org/docs/stable/multiprocessing.html
        """
        if self.shared is None:
            shared = self.shared_copy()
            self.move_to(shared.map(), self._nbytes, is_filled=True)
            self.become_shared(shared)
        return self

    def shared_copy(self):
        """The bytes once more, in shared memory: memory/shared.py's Descriptor or Name."""
        if self.device.type != "cpu":
            raise RuntimeError("_share_fd_: only available on CPU")
        from . import shared             # few programs need it
        found = shared.create(self._nbytes)
        found.write(self.buffer)
        return found

    def become_shared(self, shared):
        """The bytes are in shared memory now, which others may see: they stay there."""
        self.shared, self.is_resizable = shared, False

    @property
    def filename(self):
        """The name of the memory where it has one (strategy file_system), else None."""
        return getattr(self.shared, "name", None)

    def __getstate__(self):
        """What pickle and deepcopy take: the bytes, in memory of their own."""
        return None, {"buffer": self.buffer, "device": self.device, "_nbytes": self._nbytes, "is_resizable": True,
                      "is_pinned_memory": False, "shared": None}

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__

    def __repr__(self):
        place = f"[torch.storage.UntypedStorage(device={self.device}) of size {self._nbytes}]"
        return place if self.buffer is None else "".join(f" {byte}\n" for byte in self.read().tolist()) + place


def new_bytes(given):
    """A flat uint8 array: of `given` bytes, or holding the numbers `given`."""
    if isinstance(given, int):
        return runtime_of("cpu").malloc(given)
    return np.array(given, np.uint8)


class _Memory:
    """Lends NumPy a stretch of another array's memory, and keeps that array alive."""

    def __init__(self, owner, nbytes):
        interface = owner.__array_interface__
        self.owner = owner
        self.__array_interface__ = {"data": interface["data"], "shape": (nbytes,), "typestr": "|u1", "version": 3}


def bytes_of(array):
    """A flat uint8 array over an array's memory, from its first element to the end of its last (no copy)."""
    if array.size == 0:
        return np.empty(0, np.uint8)
    if array.flags.c_contiguous:
        return array.reshape(-1).view(np.uint8)
    last = sum((n - 1) * s for n, s in zip(array.shape, array.strides))
    return np.asarray(_Memory(array, last + array.itemsize))
