"""save and load: objects in PyTorch's files (torch.serialization). Both libraries read both libraries' files.

A file is a zip archive of a pickle and, apart from it, the bytes of each storage, once: tensors that share memory
share it again after loading, and a small view brings its whole storage along.
https://docs.pytorch.org/docs/stable/notes/serialization.html
"""
import contextlib
import io
import os
import pickle
import shutil
import sys
import tempfile
import warnings
from enum import Enum
from mmap import MAP_PRIVATE, MAP_SHARED

from ..core.device import CPU, META
from ..memory.storage import UntypedStorage
from ..memory.typed_storage import TypedStorage
from . import safetensors
from .archive import ArchiveReader, ArchiveWriter
from .legacy import LegacyReader, write_legacy
from .locations import default_restore_location, is_meta, location_tag, register_package, restorer  # noqa: F401
from .names import (MEANINGS, add_safe_globals, allowed_by_user, clear_safe_globals, get_safe_globals,  # noqa: F401
                    know_parameters, safe_globals)
from .pickling import Pickler
from .unpickling import (DEFAULT_PROTOCOL, UNSAFE, WeightsUnpickler, globals_of, trusting_unpickler,
                         weights_only_message)

FORMAT_VERSION = b"3\n"
ZIP_MAGIC = b"PK\x03\x04"
NOT_SEEKABLE = (". You can only torch.load from a file that is seekable. Please pre-load the data into a buffer like "
                "io.BytesIO and try to load from it instead.")


# ---- save -------------------------------------------------------------------------------------------------------

def save(obj, f, pickle_module=pickle, pickle_protocol=DEFAULT_PROTOCOL, _use_new_zipfile_serialization=True):
    """Write an object to `f`: a path, or an object with `write`.

    A file at a path is replaced when all is written, so that it is whole at any time. AttributeError if `f` is
    neither; RuntimeError if the folder is missing; NotImplementedError for other pickle modules.
    https://docs.pytorch.org/docs/stable/generated/torch.save.html
    """
    if pickle_module is not pickle:
        raise NotImplementedError("torch.save writes with Python's own pickle only")
    if not _use_new_zipfile_serialization:
        save_legacy(obj, f, pickle_protocol)
        return
    if isinstance(f, (str, os.PathLike)):
        stem = os.path.splitext(os.path.basename(os.fspath(f)))[0]
        with replacing(os.fspath(f)) as file:
            write(obj, file, stem or "archive", pickle_protocol)
        return
    if not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    write(obj, f, "archive", pickle_protocol)
    if hasattr(f, "flush"):
        f.flush()


def save_legacy(obj, f, protocol):
    """Write PyTorch's older format, to a path or a file object."""
    if isinstance(f, (str, os.PathLike)):
        with replacing(os.fspath(f)) as file:
            write_legacy(obj, file, protocol)
    else:
        write_legacy(obj, f, protocol)


def write(obj, file, name, protocol):
    """Write the archive; the object is pickled first, so that what cannot be is found before anything is written."""
    pickled = io.BytesIO()
    pickler = Pickler(pickled, protocol)
    pickler.dump(obj)
    with ArchiveWriter(file, name) as archive:
        archive.write("data.pkl", pickled.getbuffer())
        archive.write("byteorder", sys.byteorder.encode())
        for key, typed in enumerate(pickler.storages):
            data = typed.untyped().read()
            archive.write(f"data/{key}", bytes(len(data)) if _settings["skip"] else data)
        archive.write("version", FORMAT_VERSION)


@contextlib.contextmanager
def replacing(path):
    """A file to write that takes the place of `path` at the end, and vanishes if that is not reached."""
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    if os.path.exists(path) and not os.path.isfile(path):         # a pipe or a device, or a folder: an error
        with open(path, "wb") as file:
            yield file
        return
    with tempfile.TemporaryDirectory(prefix=".saving-", dir=folder) as aside:
        with open(os.path.join(aside, os.path.basename(path)), "wb") as file:
            yield file
        if os.path.exists(path):
            shutil.copymode(path, file.name)
        os.replace(file.name, path)


# ---- load -------------------------------------------------------------------------------------------------------

def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Read what save wrote, from a path or an object with read, readline, tell and seek.

    `map_location`: where storages go: a string or device, a dict from old places to new ones, or a function of
    (storage, place). `weights_only` (True unless said otherwise): make only tensors, plain values and what
    add_safe_globals allows. With False the file may run any code. `mmap` is taken and ignored: all is read.
    UnpicklingError for what is not allowed; RuntimeError, EOFError for damaged files.
    https://docs.pytorch.org/docs/stable/generated/torch.load.html
    """
    weights_only = pickle_module is None if weights_only is None else weights_only
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if mmap and not is_path(f):
        raise ValueError("f must be a file path in order to use the mmap argument")
    if weights_only and pickle_load_args:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=2)
    if is_path(f) and os.fspath(f).endswith(".safetensors"):
        return load_safetensors(os.fspath(f), map_location)
    options = {"encoding": "utf-8", **pickle_load_args}
    with opened(f) as file:
        if begins_with(file, pickle.PROTO):
            return load_legacy(file, map_location, weights_only, pickle_module or pickle, options)
        storages = StorageReader(archive_of(file, weights_only), map_location)
        if weights_only:
            return read_weights(storages, options["encoding"])
        return read_anything(storages, pickle_module or pickle, options)


def load_legacy(file, map_location, weights_only, pickle_module, options):
    """Read PyTorch's older format, from where the file stands; it is left after the object."""
    def unpickle(file, persistent_load):
        if weights_only:
            return WeightsUnpickler(file, persistent_load, options["encoding"]).load()
        return trusting_unpickler(pickle_module, file, persistent_load, **options).load()
    reader = LegacyReader(file, map_location, unpickle)
    try:
        return reader.load_object()
    except pickle.UnpicklingError as error:
        if error.__cause__ is not None and error.__cause__ is reader.location_error:
            raise error.__cause__
        raise pickle.UnpicklingError(weights_only_message(str(error)) if weights_only else str(error)) from None


def is_path(f):
    """Whether `f` is the name of a file."""
    return isinstance(f, (str, os.PathLike))


def opened(f):
    """The file, to be closed afterwards if it was opened here. AttributeError, UnsupportedOperation if it cannot
    be sought in."""
    if is_path(f):
        return open(f, "rb")
    try:
        f.seek(f.tell())
    except (io.UnsupportedOperation, AttributeError) as error:
        raise type(error)(str(error) + NOT_SEEKABLE) from None
    return contextlib.nullcontext(f)


def begins_with(file, beginning):
    """Whether a file begins with these bytes; it is read from the start afterwards."""
    start = file.tell()
    found = file.read(len(beginning)) == beginning
    file.seek(start)
    return found


def archive_of(file, weights_only):
    """The archive in a file."""
    start = file.tell()
    beginning = file.read(len(ZIP_MAGIC))
    file.seek(start)
    check_is_archive(beginning, weights_only)
    archive = ArchiveReader(file)
    if "constants.pkl" in archive:
        raise RuntimeError("Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``. "
                           + UNSAFE if weights_only else "teachtorch has no torch.jit.load, which this file needs")
    return archive


def check_is_archive(beginning, weights_only):
    """EOFError for an empty file; UnpicklingError for what is no zip archive."""
    if not beginning:
        raise EOFError("Ran out of input: the file is empty")
    if not beginning.startswith(ZIP_MAGIC):
        message = f"invalid load key, {chr(beginning[0])!r}."
        raise pickle.UnpicklingError(weights_only_message(message) if weights_only else message)


def read_weights(storages, encoding):
    """The object of a pickle that holds data only."""
    try:
        return WeightsUnpickler(storages.pickle(), storages.load, encoding).load()
    except pickle.UnpicklingError as error:
        if error.__cause__ is not None and error.__cause__ is storages.location_error:
            raise error.__cause__
        raise pickle.UnpicklingError(weights_only_message(str(error))) from None


def read_anything(storages, pickle_module, options):
    """The object of any pickle."""
    return trusting_unpickler(pickle_module, storages.pickle(), storages.load, **options).load()


class StorageReader:
    """Reads each storage of an archive when it is first asked for, to where it shall go."""

    def __init__(self, archive, map_location):
        self.archive, self.restore = archive, restorer(map_location)
        self.without_data = is_meta(map_location)
        self.location_error = None          # what `map_location` raised: an error of its own, the file is sound
        self.loaded = {}
        order = archive.read("byteorder") if "byteorder" in archive else b"little"
        if order not in (b"little", b"big"):
            raise ValueError(f"Unknown endianness type: {order!r:.40}")
        self.swapped = order.decode() != sys.byteorder

    def pickle(self):
        """The pickle, as a file object."""
        return io.BytesIO(self.archive.read("data.pkl"))

    def load(self, identity):
        """The storage that stands in the pickle as ("storage", type, key, location, number of elements)."""
        _, kind, key, location, numel = identity
        is_untyped = kind is UntypedStorage
        dtype = MEANINGS["torch.uint8"] if is_untyped else kind.dtype
        nbytes = numel * dtype.itemsize
        if key not in self.loaded:
            location = location.decode() if isinstance(location, bytes) else location
            self.loaded[key] = self._restored(f"data/{key}", nbytes, dtype, location)
        storage = self.loaded[key]
        if nbytes > storage.nbytes():
            raise RuntimeError(f"storage {key} has {storage.nbytes()} bytes, not the {nbytes} that the file speaks of")
        return storage if is_untyped else TypedStorage(storage, dtype)

    def _restored(self, record, nbytes, dtype, location):
        if location == "meta" or self.without_data:
            return UntypedStorage(None, META, nbytes)
        if self.archive.size(record) < nbytes:
            raise RuntimeError(f"record {record} has {self.archive.size(record)} bytes, not the {nbytes} that the "
                               "file speaks of")
        storage = UntypedStorage(self._bytes(record, dtype), CPU)
        try:
            return self.restore(storage, location)
        except Exception as error:
            self.location_error = error
            raise

    def _bytes(self, record, dtype):
        data = self.archive.read_array(record)
        if self.swapped:
            data.view(f"u{dtype.itemsize}").byteswap(inplace=True)
        return data


def load_safetensors(path, map_location):
    """{name: tensor} of a file of the `safetensors` package. RuntimeError if that is not installed."""
    if map_location is not None and str(map_location) != "cpu":
        raise RuntimeError(f"a safetensors file is loaded to the CPU, not to {map_location}")
    try:
        return safetensors.load_file(path)
    except ImportError as error:
        raise RuntimeError(f"Attempting to load a safetensors file but {error}") from error


def get_unsafe_globals_in_checkpoint(f):
    """The names in a file that load with `weights_only` would refuse. Nothing of the file is run."""
    with opened(f) as file:
        found = globals_of(archive_of(file, True).read("data.pkl"))
    return sorted(found - set(MEANINGS) - set(allowed_by_user()))


# ---- settings -----------------------------------------------------------------------------------------------------

_settings = {"crc32": True, "endianness": None, "mmap": MAP_PRIVATE, "skip": False}


def get_crc32_options():
    """Whether records carry checksums. They always do here, whatever set_crc32_options says."""
    return _settings["crc32"]


def set_crc32_options(compute_crc32):
    """Whether torch.save computes checksums of records; kept for programs that ask."""
    _settings["crc32"] = compute_crc32


def get_default_load_endianness():
    """The byte order of files that do not say theirs; None: the machine's."""
    return _settings["endianness"]


def set_default_load_endianness(endianness):
    """A LoadEndianness, for files that do not say theirs. TypeError for anything else."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _settings["endianness"] = endianness


class LoadEndianness(Enum):
    """Byte orders of files."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


def get_default_mmap_options():
    """How torch.load(mmap=True) would map a file: MAP_PRIVATE or MAP_SHARED."""
    return _settings["mmap"]


class set_default_mmap_options(contextlib.AbstractContextManager):
    """MAP_PRIVATE or MAP_SHARED for torch.load(mmap=True), at once and until the end of a `with` block. ValueError for
    other flags."""

    def __init__(self, flags):
        if flags not in (MAP_PRIVATE, MAP_SHARED):
            raise ValueError("Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or "
                             f"mmap.MAP_SHARED, but got {flags}")
        self.before, _settings["mmap"] = _settings["mmap"], flags

    def __exit__(self, *error):
        _settings["mmap"] = self.before


class skip_data(contextlib.AbstractContextManager):
    """A `with` block in which torch.save leaves the storages' bytes out: the file has room for them, of zeros."""

    def __init__(self, materialize_fake_tensors=False):
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self):
        self.before, _settings["skip"] = _settings["skip"], True

    def __exit__(self, *error):
        _settings["skip"] = self.before
