"""`Launch`: one piece of work that the host put into a stream, and where in the program it did so."""

import itertools
import sys
from time import perf_counter

from ..core import observer

_next_number = itertools.count(1).__next__
_thread_preparations = []  # what floors above want done at the start of a thread that runs kernels


class Launch:
    """A kernel or a copy in a stream.

    `name`: of the operator. `stream_id`: where it runs. `number`: launches count up. `site`: (file, line) of
    the caller outside teachtorch. `reads`, `writes`: byte ranges (address, end) of device memory. `is_copy`:
    between host and device. `work`: what the stream calls.
    """

    __slots__ = ("name", "stream_id", "number", "site", "reads", "writes", "is_copy", "work", "runtime")

    def __init__(self, runtime, name, stream_id, work, reads=(), writes=(), is_copy=False):
        self.runtime = runtime
        self.name = name
        self.stream_id = stream_id
        self.number = _next_number()
        self.site = calling_site()
        self.reads = reads
        self.writes = writes
        self.is_copy = is_copy
        self.work = work

    def __call__(self):
        """Run, in the stream's thread."""
        begin, cost = perf_counter(), self.runtime.cost
        if observer.active:
            observer.report("stream", action="begin", launch=self, time=begin)
        try:
            self.work()
            if cost.slows_kernels:
                cost.wait_for_kernel(begin, self.is_copy, self.nbytes())
        finally:
            if observer.active:
                observer.report("stream", action="end", launch=self, time=perf_counter())

    def nbytes(self):
        """How many bytes of device memory it reads and writes."""
        return sum([end - start for start, end in (*self.reads, *self.writes)])

    def __repr__(self):
        return (
            f"<Launch {self.number} of {self.name} in stream {self.stream_id}, from {shown_site(self.site)}>"
        )


def calling_site():
    """(file, line) of the innermost frame outside teachtorch."""
    frame = sys._getframe(2)
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__")  # code that teachtorch generates has none
        if module is not None and not (module == "teachtorch" or module.startswith("teachtorch.")):
            break
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def shown_site(site):
    """A site in words; of a notebook's cell, which Jupyter keeps in a file of a meaningless name, the line."""
    return f"line {site[1]} of a cell" if "ipykernel_" in site[0] else f"{site[0]}:{site[1]}"


def at_start_of_device_threads(prepare):
    """Call `prepare()` in every thread that runs kernels, before its first."""
    _thread_preparations.append(prepare)


def prepare_device_thread():
    for prepare in _thread_preparations:
        prepare()
