"""``viz.gather``, ``viz.scatter``, ``viz.index``: which element each element is read from, or written to."""

import sys

from viz.engines import library_of
from viz.names import find_names
from viz.picks_blocks import Block, links, nodes, unravel
from viz.picks_notes import gather_notes, index_notes, scatter_notes, showing
from viz.picks_rule import IndexRule
from viz.picks_steps import reading_steps, writing_steps
from viz.picture import Picture
from viz.tensors import has_values, on_cpu, require_tensor
from viz.trace import Trace

_REDUCES = {"add": "sum", "multiply": "prod"}


def gather(input, dim, index):
    """Which element of ``input`` each element of ``input.gather(dim, index)`` reads.

    input: a tensor of teachtorch or PyTorch. dim: an int. index: int64 tensor with as many dimensions; in
    every dimension but ``dim`` at most as large as ``input``. (``take_along_dim`` is ``gather`` with an index
    that was broadcast first.)
    Raises what ``input.gather(dim, index)`` raises. Source: TensorAdvancedIndexing.cpp in
    aten/src/ATen/native.
    """
    _require(input, index, "viz.gather")
    names = _names(sys._getframe(1), x=input, index=index)
    input, index = on_cpu(input), on_cpu(index)
    dim = dim % max(1, input.dim()) if -input.dim() <= dim < 0 else dim
    places = _places(input).gather(dim, index)
    result = input.gather(dim, index) if has_values(input) else None
    out = Block("o", "out", tuple(index.shape), result)
    by = Block("x", names["index"], tuple(index.shape), index)
    source = Block("i", names["x"], tuple(input.shape), input, wanted=_reached(places, input, out))
    trace = _trace(f"{names['x']}.gather({dim}, {names['index']})", [[source], [by, out]], _READS)
    pairs = [(place, _place(places, place, input)) for place in out.places]
    trace.nodes = nodes([source, by, out], dim, pairs, driver=(by, out), far=source)
    links(trace, [(source, far, by, near, out, near) for near, far in pairs])
    trace.notes = gather_notes(names["x"], places, input) + showing(source, by, out)
    trace.steps = reading_steps(trace, pairs, source, out, by, _gather_formula(names, dim, source, out))
    return Picture(trace)


def scatter(input, dim, index, src, reduce=None, *, include_self=True):
    """Where ``input.scatter(dim, index, src)`` writes each element of ``src``, and which of them collide.

    input, dim, index: as in ``viz.gather``, ``index`` at most as large as ``src``. src: a tensor or a number.
    reduce: None (one of several writes stays), or how they are joined: "sum" (``scatter_add``), "prod",
    "mean", "amax" or "amin" (``scatter_reduce``). include_self: whether the old element takes part.
    Raises what the operation raises.
    """
    _require(input, index, "viz.scatter")
    names = _names(sys._getframe(1), x=input, index=index, src=src)
    input, index, src = on_cpu(input), on_cpu(index), on_cpu(src)
    dim = dim % max(1, input.dim()) if -input.dim() <= dim < 0 else dim
    reduce = _REDUCES.get(reduce, reduce)
    result = _scattered(input, dim, index, src, reduce, include_self)
    places = _places(input).gather(dim, index)
    by = Block("x", names["index"], tuple(index.shape), index)
    given = _source_block(names["src"], src, by)
    out = Block("o", "out", tuple(input.shape), result, wanted=_reached(places, input, by))
    shown = [given, by] if given else [by]
    trace = _trace(_scatter_title(names, dim, src, reduce), [shown, [out]], _WRITES)
    pairs = [(place, _place(places, place, input)) for place in by.places]
    trace.nodes = nodes([*shown, out], dim, pairs, driver=shown, far=out)
    links(trace, [(given or by, near, by, near, out, far) for near, far in pairs])
    trace.notes = scatter_notes(places, input, src, reduce, include_self) + showing(*shown, out)
    start = input if has_values(input) else None
    formula = _scatter_formula(names, dim, src, reduce)
    trace.steps = writing_steps(trace, pairs, (given, by, out), start, (src, reduce, include_self), formula)
    return Picture(trace)


class index:
    """Which element of ``x`` each element of ``x[...]`` reads: ``viz.index(x)[:, [0, 2]]``.

    x: a tensor of teachtorch or PyTorch. The key may hold all that indexing takes: integers, slices, ``...``,
    None, lists, integer tensors and masks. ``index_select`` is such a key. Raises what ``x[key]`` raises.
    """

    def __init__(self, x):
        self._x = require_tensor(x, "viz.index")
        self._frame_names = find_names(None, sys._getframe(1))

    def __getitem__(self, key):
        rule = IndexRule(self._x, key, self._frame_names)
        x, name = on_cpu(self._x), rule.name
        places = _places(x)[rule.plain_key]
        result = x[rule.plain_key] if has_values(x) else None
        out = Block("o", "out", tuple(places.shape), result)
        source = Block("i", name, tuple(x.shape), x, wanted=_reached(places, x, out))
        trace = _trace(f"{name}[{rule.written}]", [[source], [out]], _READS)
        pairs = [(place, _place(places, place, x)) for place in out.places]
        trace.nodes = nodes([source, out], rule.colour_dim, pairs, driver=(out,), far=source)
        links(trace, [(source, far, None, near, out, near) for near, far in pairs])
        trace.notes = index_notes(rule, places, x) + showing(source, out)
        trace.steps = reading_steps(trace, pairs, source, out, None, rule.formula(out))
        return Picture(trace)


# Reading the arguments


def _require(input, index, function):
    require_tensor(input, function)
    require_tensor(index, function)
    if not has_values(index):
        raise ValueError(f"{function} reads the values of index; this one is on device meta and has none")


def _names(frame, **tensors):
    """What the caller calls each tensor, else the name of the argument."""
    known = find_names(None, frame)
    found = {role: known.of(t) if hasattr(t, "grad_fn") else None for role, t in tensors.items()}
    return {role: names[0] if names else role for role, names in found.items()}


def _places(tensor):
    """A tensor of the same shape whose elements are their own numbers, on the CPU."""
    return library_of(tensor).arange(tensor.numel()).reshape(tuple(tensor.shape))


def _place(places, index, tensor):
    """The element that ``places[index]`` names, as an index of ``tensor``."""
    return unravel(places[index].item() if index else places.item(), tuple(tensor.shape))


def _reached(places, tensor, block):
    """The elements of ``tensor`` that the drawn elements of ``block`` read or write."""
    return [_place(places, place, tensor) for place in block.places]


def _source_block(name, src, by):
    if not hasattr(src, "shape"):
        return None
    return Block("s", name, tuple(src.shape), src, wanted=by.places)


def _scattered(input, dim, index, src, reduce, include_self):
    """The result, by the library itself."""
    if not has_values(input):
        return None
    if reduce is None:
        return input.scatter(dim, index, src)
    if not hasattr(src, "shape"):
        src = library_of(input).full(tuple(index.shape), src, dtype=input.dtype)
    return input.scatter_reduce(dim, index, src, reduce, include_self=include_self)


_READS = {
    "colours": "elements read at the same position, and those that read them; 4 colours take turns",
    "pale": "not read by an element drawn",
    "shared": "read as often as it says, by the elements drawn",
}
_WRITES = {
    "colours": "elements that go to the same position, and where they go; 4 colours take turns",
    "pale": "not written by an element drawn, or not used",
    "shared": "a collision: written as often as it says, by the elements drawn",
}


def _trace(title, rows, legend):
    trace = Trace("picks", title)
    trace.options = {
        "rows": [[block.described() for block in row] for row in rows],
        **legend,
        "tie": True,
        "hint": "Point at an element, or step with the arrow keys.",
    }
    return trace


# Formulas


def _gather_formula(names, dim, source, out):
    def formula(near, far):
        looked_up = _subscript(near, dim, f"{names['index']}{list(near)}")
        return f"out{list(near)} = {names['x']}[{looked_up}] = {names['x']}{list(far)}{source.equals(far)}"

    return formula


def _subscript(place, dim, replaced):
    """``1, index[1, 0]``: the place with the coordinate of ``dim`` replaced."""
    return ", ".join(replaced if d == dim else str(i) for d, i in enumerate(place)) or replaced


def _scatter_title(names, dim, src, reduce):
    given = names["src"] if hasattr(src, "shape") else repr(src)
    if reduce is None:
        return f"{names['x']}.scatter({dim}, {names['index']}, {given})"
    if reduce == "sum":
        return f"{names['x']}.scatter_add({dim}, {names['index']}, {given})"
    return f"{names['x']}.scatter_reduce({dim}, {names['index']}, {given}, {reduce!r})"


def _scatter_formula(names, dim, src, reduce):
    sign = {None: "=", "sum": "+=", "prod": "*="}.get(reduce, f"takes into its {reduce}")

    def formula(near, far):
        looked_up = _subscript(near, dim, f"{names['index']}{list(near)}")
        value = f"{names['src']}{list(near)}" if hasattr(src, "shape") else repr(src)
        return f"out[{looked_up}], which is out{list(far)}, {sign} {value}"

    return formula
