"""Which parts of a module an example input passes through, in order, and with which shapes."""

from contextlib import contextmanager
from dataclasses import dataclass

from viz.engines import library_of
from viz.tensors import describe, is_tensor

_DEEPEST = 3
_LONGEST = 36


@dataclass
class Call:
    """One call of a part. number: in the order in which calls begin, from 1. depth: calls around it."""

    module: object
    number: int
    depth: int
    takes: str
    gives: str = ""
    has_inner: bool = False


def calls_of(module, args):
    """Call the module with ``args``, without a graph and in evaluation mode, and return its Calls.

    Training flags are put back afterwards; whatever the module raises is raised.
    """
    tensors = [t for t in (*args, *module.parameters(), *module.buffers()) if is_tensor(t)]
    library = library_of(tensors[0]) if tensors else None
    calls, running = [], []
    with _watched(module, calls, running), _evaluating(module):
        if library is None:
            module(*args)
        else:
            with library.no_grad():
                module(*args)
    return calls


@contextmanager
def _watched(module, calls, running):
    def before(part, args, kwargs):
        if running:
            running[-1].has_inner = True
        call = Call(part, len(calls) + 1, len(running), shape_text([*args, *kwargs.values()], outer=True))
        calls.append(call)
        running.append(call)

    def after(part, args, output):
        running.pop().gives = shape_text(output)

    handles = []
    try:
        for part in module.modules():
            handles.append(part.register_forward_pre_hook(before, with_kwargs=True))
            handles.append(part.register_forward_hook(after))
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _evaluating(module):
    """Batch norm must not learn from the example, nor a batch of one be refused."""
    flags = [(part, part.training) for part in module.modules()]
    try:
        for part, _ in flags:
            part.training = False  # not eval(), which a class may have made do more
        yield
    finally:
        for part, flag in flags:
            part.training = flag


def shape_text(value, outer=False):
    """``[2, 3]`` for a tensor; tuples, lists and dicts of them, cut if long; the type for anything else."""
    words = _shape_text(value, outer, 0) or "nothing"
    return words if len(words) <= _LONGEST else words[: _LONGEST - 4] + " ..."


def _shape_text(value, outer, level):
    if is_tensor(value):
        return str(list(value.shape))
    if level > _DEEPEST:
        return "..."
    if isinstance(value, dict):
        return "{" + _listed([f"{k}: {_shape_text(v, False, level + 1)}" for k, v in value.items()]) + "}"
    if isinstance(value, (list, tuple)):
        inside = _listed([_shape_text(v, False, level + 1) for v in value])
        return inside if outer else f"({inside})"
    return "None" if value is None else type(value).__name__


def _listed(words):
    return ", ".join(words[:4] + (["..."] if len(words) > 4 else []))


def input_text(args):
    """``float32 [2, 3], float32 [2]``"""
    words = [describe(a.shape, a.dtype) if is_tensor(a) else shape_text(a) for a in args]
    return _listed(words)
