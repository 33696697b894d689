"""Shared memory: stretches of memory that several processes see.

Two ways of finding the same memory from another process, the strategies of torch.multiprocessing:

    file_descriptor   an anonymous file; its descriptor is handed to the other process through a socket. It has no name
                      that could be left behind: the memory is gone when the last process that holds it is. The process
                      that made it may keep it for its next tensor (spares.py).
    file_system       a file with a name; whoever knows the name may open it. Somebody has to remove the name, and for
                      that the file begins with a list of the processes that hold it (`Holders`).

https://pytorch.org/docs/stable/multiprocessing.html#sharing-strategies
"""
import contextlib
import errno
import math
import mmap
import os
import secrets
import struct
import tempfile
import weakref
from multiprocessing import resource_tracker, util

import numpy as np

from .filling import write_at

try:
    import fcntl
except ImportError:                              # Windows
    fcntl = None

HAS_ANONYMOUS_FILES = hasattr(os, "memfd_create")
# Bytes of a segment that is worth keeping for the next tensor (spares.py, which needs to open a file twice).
SMALLEST_KEPT = 2**20 if os.path.isdir("/proc/self/fd") else math.inf
MEMORY_FOLDER = "/dev/shm"                       # on Linux: files that are memory
PREFIX = "teachtorch_"


class Descriptor:
    """Memory behind an open file descriptor, which is closed when the last user of this object goes."""

    strategy = "file_descriptor"

    def __init__(self, fd, nbytes, segment=None):
        self.fd, self.nbytes, self.segment = fd, nbytes, segment
        self.close = weakref.finalize(self, *(os.close, fd) if segment is None else (segment.close_fd,))

    @classmethod
    def create(cls, nbytes):
        """Memory to be written: fresh, or, if large, what was used before. OSError if no descriptors are left."""
        if nbytes >= SMALLEST_KEPT:
            from . import spares
            segment = spares.take(nbytes)
            return cls(segment.fd, nbytes, segment)
        fd = os.memfd_create("teachtorch", os.MFD_CLOEXEC)
        os.ftruncate(fd, max(nbytes, 1))
        return cls(fd, nbytes)

    @property
    def key(self):
        """What identifies the memory within this machine, whichever descriptor leads to it."""
        found = os.fstat(self.fd)
        return found.st_dev, found.st_ino

    def write(self, data):
        """Fill the memory from a flat uint8 array."""
        if self.segment is None:
            write_at(self.fd, data, 0)
        else:
            self.segment.fill(data)

    def map(self):
        """A flat uint8 array over the memory."""
        return mapped(self.fd, self.nbytes) if self.segment is None else self.segment.window(self.nbytes)


class Name:
    """Memory behind the name of a file. The last process that lets go of it removes the name."""

    strategy = "file_system"

    def __init__(self, name, nbytes, is_new=False):
        self.name, self.nbytes = name, nbytes
        fd = os.open(path_of(name), os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if is_new else 0), 0o600)
        try:
            if is_new:
                os.ftruncate(fd, Holders.SIZE + nbytes)
                track(name)
            Holders(fd).enter(os.getpid(), arrives=not is_new)
            self._whole = mapped(fd, Holders.SIZE + nbytes)
        finally:
            os.close(fd)
        self.close = weakref.finalize(self, let_go, name)
        _names.add(self)

    @classmethod
    def create(cls, nbytes):
        """Fresh memory, zeroed, under a new name. RuntimeError where the system cannot lock files."""
        if fcntl is None:
            raise RuntimeError("teachtorch shares memory between processes on POSIX systems only")
        return cls(f"{PREFIX}{os.getpid()}_{secrets.token_hex(6)}", nbytes, is_new=True)

    @property
    def key(self):
        """What identifies the memory within this machine."""
        return self.name

    def write(self, data):
        """Fill the memory from a flat uint8 array."""
        with opened(self.name) as fd:
            write_at(fd, data, Holders.SIZE)

    def map(self):
        """A flat uint8 array over the memory."""
        return self._whole[Holders.SIZE:]

    def announce(self):
        """A message with the name is under way: the name must stay until somebody has opened it."""
        with opened(self.name) as fd:
            Holders(fd).depart()

    def arrive(self):
        """A message has brought the name to this process, which held the memory already."""
        with opened(self.name) as fd:
            Holders(fd).enter(os.getpid(), arrives=True)


class Holders:
    """The head of a named file: how many messages with its name are under way, and who holds it."""

    CAPACITY = 62
    FORMAT = f"<{2 + CAPACITY}q"                 # messages under way, number of processes, their ids
    SIZE = struct.calcsize(FORMAT)

    def __init__(self, fd):
        self.fd = fd

    def enter(self, pid, arrives=False):
        """`pid` holds the memory from now on. `arrives`: a message has told it the name."""
        with locked(self.fd):
            under_way, ids = self._read()
            self._write(under_way - arrives, sorted({*ids, pid}))

    def depart(self):
        """One more message is under way."""
        with locked(self.fd):
            under_way, ids = self._read()
            self._write(under_way + 1, ids)

    def leave(self, pid):
        """`pid` is done. True if nobody is left; processes that were killed do not count."""
        with locked(self.fd):
            under_way, ids = self._read()
            ids = [other for other in ids if other != pid and is_running(other)]
            self._write(under_way, ids)
            return not ids and not under_way

    def _read(self):
        under_way, count, *ids = struct.unpack(self.FORMAT, os.pread(self.fd, self.SIZE, 0))
        return under_way, ids[:count]

    def _write(self, under_way, ids):
        if len(ids) > self.CAPACITY:
            raise RuntimeError(f"more than {self.CAPACITY} processes would hold one named stretch of shared memory")
        padded = [*ids, *[0] * (self.CAPACITY - len(ids))]
        os.pwrite(self.fd, struct.pack(self.FORMAT, max(0, under_way), len(ids), *padded), 0)


# ---- names: opening, letting go, forks ---------------------------------------------------------------------

_names = weakref.WeakSet()                       # the Name objects of this process


def path_of(name):
    """Where the file is: in memory where the system has a folder for that."""
    folder = MEMORY_FOLDER if os.path.isdir(MEMORY_FOLDER) else tempfile.gettempdir()
    return os.path.join(folder, name)


@contextlib.contextmanager
def opened(name):
    """The file's descriptor."""
    fd = os.open(path_of(name), os.O_RDWR | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def locked(fd):
    """One process at a time."""
    fcntl.flock(fd, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)


def let_go(name):
    """This process is done with the name; the last one removes it."""
    try:
        with opened(name) as fd:
            if Holders(fd).leave(os.getpid()):
                os.unlink(path_of(name))
                track(name, is_gone=True)
    except FileNotFoundError:
        """Someone else was the last."""


def start_tracker():
    """Start Python's cleaner of names, which processes started from now on have in common."""
    if os.path.isdir(MEMORY_FOLDER):
        resource_tracker.ensure_running()


def track(name, is_gone=False):
    """Have the name removed should the whole family of processes be killed."""
    if os.path.isdir(MEMORY_FOLDER):             # what Python's tracker knows to clean up
        change = resource_tracker.unregister if is_gone else resource_tracker.register
        change("/" + name, "shared_memory")


def is_running(pid):
    """Whether there is a process of that id that has not ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not is_zombie(pid)


def is_zombie(pid):
    """Whether it has ended, and its parent has not asked for its exit code yet."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


def _enter_after_fork():
    """A forked child holds what its parent holds."""
    for name in list(_names):
        with contextlib.suppress(FileNotFoundError), opened(name.name) as fd:
            Holders(fd).enter(os.getpid())


def _leave_at_exit(_):
    """Children of multiprocessing end without Python's usual cleaning up: let go of everything before."""
    util.Finalize(None, let_go_of_all, exitpriority=-100)


def let_go_of_all():
    """Give back all names of this process."""
    for name in list(_names):
        name.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_enter_after_fork)
    util.register_after_fork(Name, _leave_at_exit)


# ---- both --------------------------------------------------------------------------------------------------

STRATEGIES = {kind.strategy: kind for kind in ([Descriptor] if HAS_ANONYMOUS_FILES else []) + [Name]}
strategy = next(iter(STRATEGIES))                # of what is shared from now on; multiprocessing sets it


def create(nbytes):
    """Shared memory, by the current strategy. OSError if there is none, or no descriptor left."""
    with says_what_to_do():
        return STRATEGIES[strategy].create(nbytes)


@contextlib.contextmanager
def says_what_to_do():
    """An error of too many open files names the ways out."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EMFILE:
            error.add_note(
                "Each storage in shared memory keeps descriptors of this process. `ulimit -n` allows more of "
                "them; multiprocessing.set_sharing_strategy('file_system') needs fewer."
            )
        raise


def mapped(fd, nbytes):
    """A flat uint8 array over a file's memory, which stays mapped for as long as an array looks at it."""
    with says_what_to_do():
        return np.frombuffer(mmap.mmap(fd, max(nbytes, 1)), np.uint8)[:nbytes]
