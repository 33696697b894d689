"""TypedStorage: a storage seen as elements of one dtype, as `tensor.storage()` shows it. PyTorch has deprecated it."""
import numpy as np

from ..core import dtype as dt
from .storage import UntypedStorage


class TypedStorage:
    """The elements of an UntypedStorage. https://pytorch.org/docs/stable/storage.html"""

    __slots__ = ("dtype", "_untyped")
    dtype_of_class = None                # of FloatStorage and its like

    def __init__(self, given=0, dtype=None):
        self.dtype = dtype or self.dtype_of_class
        self._untyped = given if isinstance(given, UntypedStorage) else self._new(given)

    def _new(self, given):
        """A storage for a number of elements, or of these elements."""
        if isinstance(given, int):
            return UntypedStorage(given * self.dtype.itemsize)
        return UntypedStorage(np.array(given, self.dtype.numpy).view(np.uint8).tolist())

    def untyped(self):
        """The storage itself."""
        return self._untyped

    @property
    def device(self):
        """Where the bytes are."""
        return self._untyped.device

    def element_size(self):
        """Bytes per element."""
        return self.dtype.itemsize

    def nbytes(self):
        """Size in bytes."""
        return self._untyped.nbytes()

    def size(self):
        """The number of elements."""
        return self._untyped.nbytes() // self.dtype.itemsize

    __len__ = size

    def data_ptr(self):
        """Address of the first byte."""
        return self._untyped.data_ptr()

    def tolist(self):
        """The elements, as Python numbers."""
        return self._untyped.buffer.view(self.dtype.numpy).tolist()

    def __getitem__(self, index):
        return self._untyped.buffer.view(self.dtype.numpy)[index].item()

    def __setitem__(self, index, value):
        self._untyped.buffer.view(self.dtype.numpy)[index] = value

    def fill_(self, value):
        """Set every element; returns self."""
        self[:] = value
        return self

    def resize_(self, size):
        """Make room for a number of elements; returns self."""
        self._untyped.resize_(size * self.dtype.itemsize)
        return self

    def clone(self):
        """A copy in memory of its own."""
        return TypedStorage(self._untyped.clone(), self.dtype)

    def cpu(self):
        """The storage on the CPU: itself, under a new object, if it is there."""
        return TypedStorage(self._untyped.cpu(), self.dtype)

    def is_shared(self):
        """Whether other processes can be given this memory."""
        return self._untyped.is_shared()

    def share_memory_(self):
        """Move to shared memory; returns self."""
        self._untyped.share_memory_()
        return self

    def __repr__(self):
        elements = "".join(f" {value}\n" for value in self.tolist())
        return (f"{elements}[torch.storage.TypedStorage(dtype=torch.{self.dtype.name}, device={self.device}) "
                f"of size {self.size()}]")


def storage_class(dtype):
    """FloatStorage and the like."""
    doc = f"A TypedStorage of {dtype.name}."
    fields = {"__slots__": (), "dtype_of_class": dtype, "__doc__": doc}
    return type(f"{dt.scalar_type_name(dtype)}Storage", (TypedStorage,), fields)


LEGACY = {one.__name__: one for one in map(storage_class, dt.ALL)}
