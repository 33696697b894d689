"""Tensors that are alive right now, whoever holds them: asked of the garbage collector."""

import gc

from viz.engines import library_of
from viz.tensors import has_readable_history, is_tensor


def live_tensors(like):
    """Every living tensor of the library of ``like`` that Python knows of.

    One that only C++ holds, such as a saved one, may be missing.
    """
    library, kinds, found = library_of(like).__name__, {}, []
    for thing in gc.get_objects():
        kind = type(thing)
        if kind not in kinds:
            kinds[kind] = is_tensor(thing) and _is_from(library, kind)
        if kinds[kind] and has_readable_history(thing):
            found.append(thing)
    return found


def _is_from(library, kind):
    return any(cls.__module__.split(".")[0] == library for cls in kind.__mro__)


def retaining(tensors, nodes):
    """The tensors among ``tensors`` that ``retain_grad()`` marked and whose grad_fn is one of ``nodes``."""
    ids = {id(node) for node in nodes}
    return [t for t in tensors if getattr(t, "retains_grad", False) and id(t.grad_fn) in ids]
