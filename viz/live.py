"""Tensors that are alive right now, whoever holds them: asked of the garbage collector."""

import gc

from viz.tensors import is_tensor


def live_tensors():
    """Every living tensor that Python knows of. One that only C++ holds, such as a saved one, may be missing."""
    kinds = {}
    found = []
    for thing in gc.get_objects():
        kind = type(thing)
        if kind not in kinds:
            kinds[kind] = is_tensor(thing)
        if kinds[kind]:
            found.append(thing)
    return found


def retaining(tensors, nodes):
    """The tensors among ``tensors`` that ``retain_grad()`` marked and whose grad_fn is one of ``nodes``."""
    ids = {id(node) for node in nodes}
    return [t for t in tensors if getattr(t, "retains_grad", False) and id(t.grad_fn) in ids]
