"""The file format of PyTorch before 1.6: pickles one after the other, then the storages' bytes.

    magic number, protocol version, {byte order, sizes of C's types}, the object, [keys of its storages]
    for each key: the number of elements (int64), the elements

`torch.save(..., _use_new_zipfile_serialization=False)` still writes it, and several such objects may follow each other
in one file. What a storage's elements are only the object's pickle says, so it is read first.
"""
import io
import pickle
import struct
import sys

import numpy as np

from ..core.device import CPU, META
from ..memory.runtime import runtime_of
from ..memory.storage import UntypedStorage
from ..memory.typed_storage import TypedStorage
from .locations import is_meta, restorer
from .names import MEANINGS
from .pickling import Pickler

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
TYPE_SIZES = {"short": 2, "int": 4, "long": 4}
COUNT = struct.Struct("<q")


# ---- save -------------------------------------------------------------------------------------------------------

class LegacyPickler(Pickler):
    """A storage's identity has a sixth part here, which views of storages once needed."""

    def persistent_id(self, obj):
        identity = super().persistent_id(obj)
        return identity if identity is None else (*identity, None)


def write_legacy(obj, file, protocol):
    """Write an object to a file object; it is pickled first."""
    pickled = io.BytesIO()
    pickler = LegacyPickler(pickled, protocol)
    pickler.dump(obj)
    system = {"protocol_version": PROTOCOL_VERSION, "little_endian": sys.byteorder == "little",
              "type_sizes": TYPE_SIZES}
    for header in (MAGIC_NUMBER, PROTOCOL_VERSION, system):
        pickle.dump(header, file, protocol)
    file.write(pickled.getbuffer())
    keys = sorted([str(i) for i in range(len(pickler.storages))])
    pickle.dump(keys, file, protocol)
    for key in keys:
        typed = pickler.storages[int(key)]
        file.write(COUNT.pack(typed.untyped().nbytes() // typed.dtype.itemsize))
        file.write(memoryview(typed.untyped().read()))


# ---- load -------------------------------------------------------------------------------------------------------

class LegacyReader:
    """Makes storages when the pickle speaks of them; `finish` reads their bytes, which come after it.

    `unpickle(file, persistent_load)` reads one pickle. RuntimeError for another magic number or protocol.
    """

    def __init__(self, file, map_location, unpickle):
        self.file, self.unpickle = file, unpickle
        self.restore, self.without_data = restorer(map_location), is_meta(map_location)
        self.location_error = None
        self.made = {}                       # key -> (storage, dtype of its elements)

    def load_object(self):
        """The object, whole."""
        if self._next() != MAGIC_NUMBER:
            raise RuntimeError("Invalid magic number; corrupt file?")
        version = self._next()
        if version != PROTOCOL_VERSION:
            raise RuntimeError(f"Invalid protocol version: {version}")
        system = self._next()
        is_little = not isinstance(system, dict) or system.get("little_endian", True)
        found = self._next()
        self._fill(self._next(), is_little != (sys.byteorder == "little"))
        return found

    def _next(self):
        return self.unpickle(self.file, self.load)

    def load(self, identity):
        """The storage of ("storage", type, key, location, number of elements, None), still without its bytes."""
        _, kind, key, location, numel, *_ = identity
        is_untyped = kind is UntypedStorage
        dtype = MEANINGS["torch.uint8"] if is_untyped else kind.dtype
        if key not in self.made:
            location = location.decode() if isinstance(location, bytes) else location
            self.made[key] = self._empty(numel * dtype.itemsize, location), dtype
        storage = self.made[key][0]
        return storage if is_untyped else TypedStorage(storage, dtype)

    def _empty(self, nbytes, location):
        if location == "meta" or self.without_data:
            return UntypedStorage(None, META, nbytes)
        try:
            return self.restore(UntypedStorage(np.zeros(nbytes, np.uint8), CPU), location)
        except Exception as error:
            self.location_error = error
            raise

    def _fill(self, keys, is_swapped):
        for key in keys:
            storage, dtype = self.made[key]
            (count,) = COUNT.unpack(self._bytes(COUNT.size))
            data = np.frombuffer(self._bytes(count * dtype.itemsize), np.uint8)
            if is_swapped:
                data = data.view(f"u{dtype.itemsize}").byteswap().view(np.uint8)
            if storage.nbytes() != data.nbytes:
                raise RuntimeError(f"storage has wrong byte size: expected {storage.nbytes()} got {data.nbytes}")
            if storage.buffer is not None:
                runtime_of(storage.device.type).copy(storage.buffer, data)

    def _bytes(self, count):
        data = self.file.read(count) if count >= 0 else b""
        if len(data) != count:
            raise RuntimeError(f"unexpected EOF, expected {count - len(data)} more bytes. The file might be corrupted.")
        return data
