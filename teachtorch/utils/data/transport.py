"""Objects from a worker process to its parent. Large arrays go through memory without a name.

The pickle holds everything but the bytes of arrays (pickle protocol 5, "out of band"). Where the system has anonymous
files (Linux: memfd_create) large arrays travel in one, whose descriptor is handed over with the message: it has no
name that could be left behind, and is gone when the last process that holds it is, however that ended. So a worker
never waits for the parent to read. Elsewhere, and for small arrays, the bytes follow in the pipe.
"""
import io
import os
import pickle
from multiprocessing import reduction

import numpy as np

from ...tensor import Tensor, storage_of

INLINE = 32 * 1024                    # bytes; below it one message through the pipe is cheaper than a file
HAS_ANONYMOUS_FILES = hasattr(os, "memfd_create")
NON_LEAF = ("Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries. If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue).")


class Pickler(pickle.Pickler):
    """Sends of a tensor what it shows, and not all of a larger storage that it is a view of."""

    def reducer_override(self, obj):
        """RuntimeError for tensors with history."""
        if not isinstance(obj, Tensor):
            return NotImplemented
        if not obj.is_leaf:
            raise RuntimeError(NON_LEAF)
        is_part = type(obj) is Tensor and not obj.is_meta and storage_of(obj).nbytes() > obj.nbytes
        if is_part:
            obj = obj.detach().clone().requires_grad_(obj.requires_grad)
        return obj.__reduce_ex__(pickle.HIGHEST_PROTOCOL)


def packed(obj):
    """(pickle, arrays' bytes) of an object."""
    buffers, file = [], io.BytesIO()
    Pickler(file, pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append).dump(obj)
    return file.getvalue(), [buffer.raw() for buffer in buffers]


def send(connection, head, package):
    """Send a small `head` and a package of `packed`."""
    pickled, buffers = package
    sizes = [len(buffer) for buffer in buffers]
    is_aside = HAS_ANONYMOUS_FILES and sum(sizes) > INLINE
    inline = [] if is_aside else [bytes(buffer) for buffer in buffers]
    if not is_aside:
        connection.send((head, pickled, inline, None))
        return
    with os.fdopen(os.memfd_create("teachtorch-batch", os.MFD_CLOEXEC), "wb") as file:
        file.writelines(buffers)
        file.flush()
        connection.send((head, pickled, inline, sizes))
        reduction.send_handle(connection, file.fileno(), None)


def receive(connection):
    """(head, package) of the next message. EOFError, ConnectionError if the sender is gone."""
    head, pickled, inline, sizes = connection.recv()
    if sizes is None:
        return head, (pickled, [bytearray(data) for data in inline])
    return head, (pickled, read_aside(connection, sizes))


def read_aside(connection, sizes):
    """The arrays' bytes from the file whose descriptor comes next."""
    with os.fdopen(reduction.recv_handle(connection), "rb") as file:
        file.seek(0)
        arrays = [np.empty(size, np.uint8) for size in sizes]
        for array in arrays:
            file.readinto(array)
    return arrays


def unpacked(package):
    """The object."""
    pickled, buffers = package
    return pickle.loads(pickled, buffers=buffers)
