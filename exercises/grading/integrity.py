"""Has the learner's file replaced a function of Python, NumPy, teachtorch, pytest or the grader?

A snapshot remembers what can be called in the modules that grading leans on. `changed` names the first that
is no longer the same object, or whose code was swapped.
"""

from __future__ import annotations

import sys
import types

WATCHED = (
    "builtins math operator random json hmac hashlib copy itertools functools numpy numpy.linalg "
    "numpy.testing teachtorch teachtorch.tensor _pytest pluggy pytest exercises".split()
)


class Snapshot:
    """The functions and classes of the watched modules as they are now. extra: further modules to watch."""

    def __init__(self, *extra: types.ModuleType) -> None:
        self._entries = [entry for module in [*_watched(), *extra] for entry in _entries(module)]

    def changed(self) -> str:
        """The dotted name of the first function or class that was replaced, or an empty text."""
        for owner, names, name, value, code in self._entries:
            if names.get(name) is not value or getattr(value, "__code__", None) is not code:
                return f"{owner}.{name}"
        return ""


def _watched() -> list[types.ModuleType]:
    return [module for name, module in list(sys.modules.items()) if _is_watched(name) and module is not None]


def _is_watched(name: str) -> bool:
    return name in WATCHED or name.startswith(("_pytest.", "pluggy.", "exercises."))


def _entries(module: types.ModuleType):
    for name, value in list(vars(module).items()):
        if callable(value):
            yield module.__name__, vars(module), name, value, getattr(value, "__code__", None)
        if isinstance(value, type) and value.__module__ == module.__name__:
            yield from _methods(module.__name__, value)


def _methods(module: str, cls: type):
    for name, value in list(vars(cls).items()):
        if isinstance(value, types.FunctionType):
            yield f"{module}.{cls.__qualname__}", vars(cls), name, value, value.__code__
