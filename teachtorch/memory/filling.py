"""Filling the memory of a file from an array."""
import os
import threading

import numpy as np

FRONT, BACK = 2**23, 2**20           # bytes that each of the two ways of filling takes at a time
POPULATE_WRITE = 23                  # Linux's MADV_POPULATE_WRITE, which Python's mmap does not name


def write_at(fd, data, offset):
    """Write all bytes of an array into a file.

    The system puts whole pages in at once. Copying through a mapping would stop at each page of 4096 bytes for the
    system to give it and to fill it with zeros first: twice the time.
    """
    rest = memoryview(data)
    while len(rest):
        count = os.pwrite(fd, rest, offset)
        rest, offset = rest[count:], offset + count


def fill_two_ways(fd, memory, data):
    """Copy a flat uint8 array into a file, of which `memory` is a mapping: two threads, from both ends.

    Writing to the file from the front is quick where pages are missing, since the system puts in whole ones, but one
    thread does so at a time. Writing to the mapping from the end stops at each page that this process has not
    touched, and is quickest where it has. They meet where they meet.
    """
    work = BothEnds(len(data))
    back = threading.Thread(target=fill_from_the_end, args=(memory, data, work))
    if len(data) > FRONT and os.cpu_count() > 1:
        back.start()
    try:
        fill_from_the_front(fd, data, work)
    finally:
        work.stop()
        if back.ident is not None:
            back.join()
    fill_from_the_front(fd, data, work)          # what the other thread could not


def fill_from_the_front(fd, data, work):
    """Write to the file, piece by piece."""
    for start, end in iter(work.first, None):
        write_at(fd, data[start:end], start)


def fill_from_the_end(memory, data, work):
    """Copy through the mapping, piece by piece."""
    target = np.frombuffer(memory, np.uint8)
    for start, end in iter(work.last, None):
        try:                         # where memory is short this is an error; touching the page would be a signal
            memory.madvise(POPULATE_WRITE, start, end - start)
        except OSError:
            return work.leave(end)
        np.copyto(target[start:end], data[start:end])


class BothEnds:
    """A stretch of bytes that two threads take pieces of, one from the front, one from the end."""

    def __init__(self, nbytes):
        self.start, self.end, self.lock = 0, nbytes, threading.Lock()

    def first(self):
        """(start, end) of the next piece from the front; None if nothing is left."""
        with self.lock:
            start, self.start = self.start, min(self.start + FRONT, self.end)
            return (start, self.start) if start < self.start else None

    def last(self):
        """(start, end) of the next piece from the end."""
        with self.lock:
            end = self.end
            self.end = max(self.start, (end - 1) // BACK * BACK)
            return (self.end, end) if self.end < end else None

    def leave(self, end):
        """What `last` gave out up to `end` was not done."""
        with self.lock:
            self.end = end

    def stop(self):
        """Nothing more is given out, but for what is left behind."""
        with self.lock:
            self.start = self.end
