"""Spare shared memory: large segments that no process looks at any more, kept to be filled again.

Most of the time of sending a large tensor for the first time goes into getting fresh pages from the system, 4096 bytes
at a time. A process that sends one large tensor after another (a worker of a DataLoader) therefore fills the same
pages again, as a caching allocator would. It may, as soon as nobody sees them:

    in other processes    The system knows. All that leaves this process (a descriptor in a message, with a child that was
                          started, mapped over there) is of one opening of the file, which holds a shared lock: the lock
                          is there for as long as anybody has that opening, and nobody who was killed has it. So another
                          opening gets the exclusive lock exactly when the last of them is gone.
    in this one           Every array over the memory keeps a `Window` alive, which is counted.
    in forked children    They inherit this process's own mapping, of which nobody tells: what is in use at the time of a
                          fork is never filled again.

A spare segment serves as many pages as it has, and what is beyond the new bytes is zeroed: nobody is shown old data.
At most MOST_BYTES are kept, the latest ones; a process that ends, however it does, gives them back.
"""
import fcntl
import mmap
import os
import threading
import weakref

import numpy as np

from .filling import fill_two_ways

MOST_BYTES, MOST_SEGMENTS = 2**28, 16

_lock = threading.RLock()
_spares = []                         # latest last
_in_use = weakref.WeakSet()


class Segment:
    """An anonymous file with this process's mapping of it. `fd`: the opening that leaves this process.

    `home`: another opening, while the segment is spare. `users`: the owner of `fd`, and Windows.
    """

    def __init__(self, nbytes):
        self.pages, self.pid = pages_of(nbytes), os.getpid()
        self.users, self.home, self.is_retired = 0, None, False
        home = os.memfd_create("teachtorch", os.MFD_CLOEXEC)
        try:
            os.ftruncate(home, self.pages * mmap.PAGESIZE)
            self.memory = mmap.mmap(home, self.pages * mmap.PAGESIZE)
            self.fd = opened_again(home)
        finally:
            os.close(home)           # the mapping has it too

    def array(self):
        """All bytes, in this process; no Window, so for the time of a call only."""
        return np.frombuffer(self.memory, np.uint8)

    def fill(self, data):
        """Take the bytes of a flat uint8 array."""
        self.array()[len(data):] = 0
        fill_two_ways(self.fd, self.memory, data)

    def window(self, nbytes):
        """A flat uint8 array over the first bytes, which counts as a user for as long as anything looks at it."""
        return np.asarray(Window(self, nbytes))

    def close_fd(self):
        """The owner of `fd` is done with it."""
        try:
            self.home = opened_again(self.fd, lock=False)
        except OSError:              # no descriptor left
            self.is_retired = True
        os.close(self.fd)
        self.let_go()

    def let_go(self):
        """One user less; after the last the segment is spare."""
        with _lock:
            self.users -= 1
            if not self.users:
                give_back(self)

    def try_again(self):
        """Open `fd` anew if no other process sees the memory. Whether that is so."""
        try:
            fcntl.flock(self.home, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        fcntl.flock(self.home, fcntl.LOCK_UN)
        self.fd = opened_again(self.home)
        self.close()
        return True

    def close(self):
        """Give `home` up."""
        if self.home is not None:
            os.close(self.home)
        self.home = None


class Window:
    """Lends NumPy the first bytes of a segment's mapping; its end is noticed."""

    def __init__(self, segment, nbytes):
        address = segment.array().__array_interface__["data"]
        self.__array_interface__ = {"data": address, "shape": (nbytes,), "typestr": "|u1", "version": 3}
        segment.users += 1
        weakref.finalize(self, segment.let_go).atexit = False


def pages_of(nbytes):
    """How many pages of the system hold so many bytes."""
    return -(-nbytes // mmap.PAGESIZE)


def opened_again(fd, lock=True):
    """A new descriptor of the same file, and a new opening: a lock on one does not hold for the other."""
    again = os.open(f"/proc/self/fd/{fd}", os.O_RDWR | os.O_CLOEXEC)
    if lock:
        fcntl.flock(again, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return again


# ---- giving and taking -------------------------------------------------------------------------------------

def take(nbytes):
    """A segment for so many bytes: a spare one if there is, else a fresh one. OSError if there is none to be had."""
    with _lock:
        for segment in reversed(list(_spares)):
            if segment.pages == pages_of(nbytes) and segment.try_again():
                _spares.remove(segment)
                break
        else:
            segment = Segment(nbytes)
        segment.users = 1
        _in_use.add(segment)
        return segment


def give_back(segment):
    """Nothing in this process looks at the segment any more. Others may: `take` will see."""
    _in_use.discard(segment)
    if segment.is_retired or segment.pid != os.getpid():
        return segment.close()
    _spares.append(segment)
    while len(_spares) > MOST_SEGMENTS or sum([s.pages for s in _spares]) * mmap.PAGESIZE > MOST_BYTES:
        _spares.pop(0).close()


def drop():
    """Give all spare memory back to the system."""
    with _lock:
        while _spares:
            _spares.pop().close()


# ---- forks -------------------------------------------------------------------------------------------------

def _before_fork():
    _lock.acquire()
    for segment in _in_use:
        segment.is_retired = True


def _after_fork():
    global _lock
    _lock = threading.RLock()        # another thread's, in the parent
    _in_use.clear()
    drop()


os.register_at_fork(before=_before_fork, after_in_parent=lambda: _lock.release(), after_in_child=_after_fork)
