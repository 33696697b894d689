"""Noticing in-place operations while they happen.

teachtorch reports each one through its observer. PyTorch has a mode that sees every function call; versions
are compared before and after each.
"""

import linecache
import sys
from contextlib import ExitStack
from dataclasses import dataclass

from viz.engines import LIBRARIES, library_of, observer_of
from viz.versions_facts import families, version


@dataclass
class Change:
    """One in-place operation: its name, where it was called, and the families right after it."""

    operation: str
    line: str
    families: list


class Recorder:
    """The context manager behind ``viz.versions.watch``; ``picture`` shows what it saw."""

    def __init__(self, tensors, names, draw):
        self.tensors, self.chips, self.changes, self.start = tensors, [], [], []
        self._names, self._draw, self._last, self._operation = names, draw, {}, ""
        self._looking = False
        self._stack = ExitStack()

    def __enter__(self):
        self.start = self._look()
        library = library_of(self.tensors[0])
        observer = observer_of(library)
        if observer:
            self._stack.enter_context(observer.watching(self._observed, "dispatch", "inplace"))
        else:
            self._stack.enter_context(_function_mode(library, self))
        return self

    def __exit__(self, *exc):
        self._stack.close()

    @property
    def picture(self):
        """The picture of everything up to now."""
        return self._draw(self)

    def _observed(self, topic, fields):
        """teachtorch's events. Saved tensors are read before an operation changes them."""
        if self._looking:
            return
        if topic == "dispatch" and fields["depth"] == 0:
            self._operation = fields["op"]
            if fields["op"].endswith("_"):
                self._look()
        elif topic == "inplace":
            self.after(self._operation)

    def before(self):
        self._look()

    def after(self, operation):
        """Write down a change if a version moved."""
        now = {id(t): version(t) for t in self.tensors}
        if now != self._last:
            found = self._look()
            self.changes.append(Change(operation, _calling_line(), found))

    def _look(self):
        self._looking = True
        found, self.chips = families(self.tensors, self._names(), self.chips)
        self._looking = False
        self._last = {id(t): version(t) for t in self.tensors}
        return found


def _function_mode(library, recorder):
    """PyTorch's public hook on every function of a tensor."""

    class Mode(library.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            name = getattr(function, "__name__", str(function))
            if _may_write(name, kwargs):
                recorder.before()
            result = function(*args, **(kwargs or {}))
            if _may_write(name, kwargs):
                recorder.after(_OPERATIONS.get(name, name))
            return result

    return Mode()


_OPERATIONS = {"__setitem__": "copy_"}


def _may_write(name, kwargs):
    is_plain = not name.startswith("__") and name.endswith("_")
    return is_plain or name == "__setitem__" or name.startswith("__i") or "out" in (kwargs or {})


def _calling_line():
    """The first line outside the libraries and this package."""
    frame = sys._getframe(1)
    while frame is not None:
        package = frame.f_globals.get("__name__", "").split(".")[0]
        if package and package not in (*LIBRARIES, "viz", "contextlib"):
            return linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals).strip()
        frame = frame.f_back
    return ""
