"""The zip file around the pickle: `<name>/data.pkl`, `<name>/data/<key>` for each storage, and a few small records.

Records are not compressed and start at multiples of 64 bytes, so that a reader may map them into memory. Nothing of an
archive is ever unpacked into a file, and records are looked up by their full names only.
"""
import os
import struct
import zipfile

import numpy as np

ALIGNMENT = 64
HEADER, EXTRA_HEADER = 30, 4                 # bytes before a record's name, and of the head of its padding
CORRUPT = ("PytorchStreamReader failed {}. If you are seeing this error, there is a high likelihood that your "
           "checkpoint file is corrupted. This can happen if the checkpoint was not saved properly, was transferred "
           "incorrectly, or the file was modified after saving.")
DAMAGED = (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError, ValueError, struct.error)


class ArchiveWriter:
    """Writes records into a file object, and the table of contents at the end of a `with` block that went well."""

    def __init__(self, file, name):
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
        self._name = name

    def write(self, name, data):
        """Add a record; `data`: bytes or a flat uint8 array."""
        info = zipfile.ZipInfo(f"{self._name}/{name}")
        used = self._zip.fp.tell() + HEADER + len(info.filename.encode()) + EXTRA_HEADER
        padding = -used % ALIGNMENT
        info.extra = struct.pack("<2sH", b"FB", padding) + b"Z" * padding
        self._zip.writestr(info, memoryview(data))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if error is not None:
            self._zip.fp = None                  # abandoned: to close it would write on into a broken file
        self._zip.close()


class ArchiveReader:
    """The records of an archive. RuntimeError if it is damaged, or not such as PyTorch writes."""

    def __init__(self, file):
        try:
            self._zip = zipfile.ZipFile(file)
        except DAMAGED as error:
            raise RuntimeError(CORRUPT.format(f"reading zip archive: {error}")) from None
        infos = self._zip.infolist()
        self._folder = infos[0].filename.partition("/")[0] if infos else ""
        self._sizes = {}
        for info in infos:
            self._check(info)
            self._sizes[info.filename] = info.file_size
        if sum(self._sizes.values()) > file.seek(0, os.SEEK_END):
            raise RuntimeError(CORRUPT.format("reading zip archive: its records are larger than the file"))

    def _check(self, info):
        parts = info.filename.split("/")
        if not parts[0] or parts[0] != self._folder or ".." in parts or "\\" in info.filename:
            raise RuntimeError(f"refused: record {info.filename!r} lies outside of the archive's folder")
        if info.filename in self._sizes:
            raise RuntimeError(f"refused: there are two records {info.filename!r}")
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            raise RuntimeError(f"refused: record {info.filename!r} is compressed or encrypted; torch.save does neither")

    def __contains__(self, name):
        return f"{self._folder}/{name}" in self._sizes

    def read(self, name):
        """A record as bytes."""
        return self.read_array(name).tobytes()

    def size(self, name):
        """How many bytes a record has. RuntimeError if there is none of that name."""
        if name not in self:
            raise RuntimeError(CORRUPT.format(f"locating file {name}: file not found"))
        return self._sizes[f"{self._folder}/{name}"]

    def read_array(self, name):
        """A record as a flat uint8 array that is its own."""
        array = np.empty(self.size(name), np.uint8)
        try:
            self._fill(array, f"{self._folder}/{name}")
        except DAMAGED as error:
            raise RuntimeError(CORRUPT.format(f"reading file {name}: {error or 'it ends too early'}")) from None
        return array

    def _fill(self, array, full_name):
        rest = memoryview(array)
        with self._zip.open(full_name) as record:
            while count := record.readinto(rest):
                rest = rest[count:]
            if len(rest) or record.read(1):
                raise EOFError
