"""Send a tensor to another process: a handle, not the data.

    sender                                            receiver
    storage ---moved once--->  shared memory  <---mapped once--- storage
    tensor  ------- handle: name, offset, size, stride ------->  tensor

The operating system has named stretches of memory. The tests hand you one as `system`:

    system.create(nbytes)       -> (name, data): new memory, and its bytes as a bytearray, all zero
    system.open(name)           -> data: the same memory, for whoever opens it; KeyError if there is no such name
    system.unlink(name)         removes the name: nobody can open it any more; who has the memory keeps it
    system.count(name, change)  -> a number beside the name, seen by all, after adding `change`; 0 at first

When may a name be removed? When nobody needs it any more: no process that holds the memory, and no handle
that is still under way. That is what the number is for: it counts both.
"""

from dataclasses import dataclass


@dataclass
class Storage:
    """Memory of one process. data: a bytearray; name: its name in the system, None while it is private."""

    data: bytearray
    name: str | None = None


@dataclass
class Tensor:
    """A view of a storage; an element is a byte. offset and stride count elements."""

    storage: Storage
    offset: int
    size: tuple
    stride: tuple


def send(tensor, system):
    """Return a handle of the tensor: a tuple of a string, integers and tuples of integers.

    The first time, the whole storage moves into shared memory: `tensor.storage` gets other data, and all its
    tensors with it. Count the sender, once, and each handle that is under way.
    """
    raise NotImplementedError


def receive(handle, system, storages):
    """Return the tensor of a handle, over the same memory.

    storages: a dict of this process, name -> Storage, of what it has already; yours to fill. The same memory
    is opened once, however many tensors over it arrive. With its arrival the handle is under way no more.
    """
    raise NotImplementedError


def let_go(storage, system):
    """The process needs the shared storage no more. If it was the last one, the name goes."""
    raise NotImplementedError
