"""Importing a learner's file alone: from its path, without putting its folder on `sys.path`."""

from __future__ import annotations

import ast
import linecache
import sys
import types
from pathlib import Path

from exercises.grading import calls, guard

MODULE = "your_exercise"


class Missing(Exception):
    """The learner's file lacks a name that the exercise asks for."""


class Yours:
    """The learner's module as the tests see it: calls are noted, a missing name is said in plain words."""

    def __init__(self, module: types.ModuleType, file: str) -> None:
        self._module = module
        self._file = file

    def __getattr__(self, name: str):
        try:
            found = getattr(self._module, name)
        except AttributeError:
            raise Missing(
                f"{self._file} has no `{name}`; the starter has it (`reset` puts that back)"
            ) from None
        if isinstance(found, type):
            calls.mention(name)
        return _noted(found) if isinstance(found, types.FunctionType) else found


def load(path: Path, rules: guard.Rules | None, snapshot: Path | None = None) -> Yours:
    """Import the learner's file.

    path: the file. rules: what it may import and call (None: anything). snapshot: a copy of the file, to be
    read in its place. Errors: SyntaxError, NotAllowed, and whatever the file raises while it is imported.
    """
    source = (snapshot or path).read_bytes()
    _show_in_tracebacks(source, str(path))
    tree = ast.parse(source, str(path))
    if rules is not None:
        guard.check(tree, rules)
    module = types.ModuleType(MODULE)
    module.__file__ = str(path)
    # dataclasses and pickle look a class's module up by name.
    sys.modules[MODULE] = module
    exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)
    return Yours(module, path.name)


def _show_in_tracebacks(source: bytes, file: str) -> None:
    """Have messages quote these lines, and not what the file holds by then. No time: never read again."""
    lines = source.decode("utf-8", "replace").splitlines(keepends=True)
    linecache.cache[file] = (len(source), None, lines, file)


def _noted(function):
    def call(*arguments, **keywords):
        calls.note(function.__name__, arguments, keywords)
        return function(*arguments, **keywords)

    call.py_func = function  # for what compiles it, as Numba's own functions say it
    return call
