"""``viz.strides``: from a tensor to the trace of its elements, its storage and its strides."""

import sys
from itertools import product
from math import prod

from viz.names import find_names
from viz.picture import Picture
from viz.strides_cells import (
    full_index,
    holds,
    panels,
    shown_indices,
    slot_of,
    storage_rows,
)
from viz.tensors import dtype_name, has_values, human_bytes, number_text, require_tensor
from viz.trace import Trace
from viz.wrap import counted
from viz.view_rule import contiguous_strides, replay

CACHE_LINE = 64
_WALK_STEPS = 64
_WALK_LIMIT = 50_000


def strides(t, view=None):
    """Where each element of ``t`` lives in storage: grid, storage ruler, the offset formula, contiguity.

    t: a strided tensor of teachtorch or PyTorch, of any dtype, shape and strides.
    view: new sizes, one of which may be -1: the steps then replay whether ``t.view(*view)`` needs a copy.
    Raises TypeError for something that is not a strided tensor, ValueError for sizes that cannot fit.
    Source: c10/core/TensorImpl.h (strides), aten/src/ATen/TensorUtils.cpp (view).
    """
    require_tensor(t, "viz.strides")
    if "strided" not in str(getattr(t, "layout", "strided")):
        raise TypeError(f"viz.strides draws strided tensors; the layout of this one is {t.layout}")
    known = find_names(None, sys._getframe(1)).of(t)
    geometry = _Geometry(t)
    return Picture(strides_trace(geometry, known[0] if known else "a tensor", _view_sizes(view)))


def _view_sizes(view):
    if view is None:
        return None
    sizes = (view,) if isinstance(view, int) else tuple(view)
    if not all(isinstance(size, int) for size in sizes):
        raise TypeError(f"view takes sizes, such as view=(2, 6); got {view!r}")
    return sizes


class _Geometry:
    """Sizes, strides and storage of a tensor, in elements, and its values slot by slot."""

    def __init__(self, tensor):
        self.shape, self.strides = tuple(tensor.shape), tuple(tensor.stride())
        self.offset, self.itemsize = tensor.storage_offset(), tensor.element_size()
        self.dtype, self.numel = dtype_name(tensor.dtype), prod(tensor.shape)
        self.slots = tensor.untyped_storage().nbytes() // self.itemsize
        readable = has_values(tensor) and self.slots
        self._flat = tensor.detach().as_strided((self.slots,), (1,), 0) if readable else None

    def value(self, slot):
        return "" if self._flat is None else number_text(self._flat[slot].item(), digits=3)

    def line(self, slot):
        """The cache line of a slot, counted from the start of the storage."""
        return slot * self.itemsize // CACHE_LINE

    def holds(self, slot):
        return holds(self.shape, self.strides, slot - self.offset)

    def slot(self, index):
        return slot_of(self.offset, self.strides, index)


def strides_trace(geometry, name, view=None):
    """The trace of a ``_Geometry``."""
    trace = Trace("strides", f"strides of {name}")
    trace.nodes = _nodes(geometry)
    trace.notes = _notes(geometry)
    trace.options = {
        "facts": _facts(geometry), "dims": _dims(geometry), "panels": _panels(geometry),
        "storage": _storage(geometry), "tie": True,
        "hint": "Point at an element or a slot, or step with the arrow keys.",
    }
    trace.steps = _walk(geometry)
    if view is not None:
        _add_view(trace, geometry, view)
    return trace


# Elements and slots

def _nodes(geometry):
    cells = [_cell(geometry, number, index) for number, index in enumerate(shown_indices(geometry.shape))]
    owners = {}
    for cell in cells:
        owners.setdefault(cell["slot"], []).append(cell)
    slots = [_slot(geometry, number, owners.get(number, [])) for number in _shown_slots(geometry, owners)]
    present = {slot["id"] for slot in slots}
    for cell in cells:
        cell["links"] = [link for link in cell["links"] if link in present]
    return cells + slots


def _shown_slots(geometry, owners):
    rows = storage_rows(owners, geometry.slots)
    return [slot for row in rows if row for slot in range(row[0], row[1] + 1)]


def _cell(geometry, number, index):
    slot = geometry.slot(index)
    return {"id": f"c{number}", "kind": "cell", "index": list(index), "slot": slot, "text": geometry.value(slot),
            "row": number_of_row(geometry.shape, index), "links": [f"s{slot}"],
            "tip": f"{list(index)}: {formula(geometry, index)}"}


def number_of_row(shape, index):
    """Which row of the grid, counted through all panels: rows share a colour with their slots."""
    row = 0
    for i, size in zip(index[:-1], shape[:-1], strict=True):
        row = row * size + i
    return row


def formula(geometry, index):
    """``offset 3 + 1*4 + 2*1 = 9``"""
    terms = [f"offset {geometry.offset}", *(f"{i}*{s}" for i, s in zip(index, geometry.strides, strict=True))]
    return " + ".join(terms) + f" = {geometry.slot(index)}"


def _slot(geometry, number, cells):
    rows = sorted({cell["row"] for cell in cells})
    return {"id": f"s{number}", "kind": "slot", "number": number, "text": geometry.value(number),
            "used": bool(cells) or geometry.holds(number), "line": geometry.line(number),
            "starts": number == 0 or geometry.line(number - 1) != geometry.line(number),
            "shared": len(cells) if len(cells) > 1 else 0, "row": rows[0] if len(rows) == 1 else None,
            "links": [cell["id"] for cell in cells], "tip": _slot_tip(geometry, number, cells)}


def _slot_tip(geometry, number, cells):
    first = number * geometry.itemsize
    last = first + geometry.itemsize - 1
    where = f"byte {first}" if first == last else f"bytes {first} to {last}"
    held = ", ".join(str(cell["index"]) for cell in cells[:6]) + (", ..." if len(cells) > 6 else "")
    if not cells:
        held = "an element not shown" if geometry.holds(number) else "no element of this tensor"
    return f"slot {number}: {where} of the storage, cache line {geometry.line(number)}; holds {held}"


def _panels(geometry):
    """The grid by element ids: None is a gap."""
    ids = {index: f"c{number}" for number, index in enumerate(shown_indices(geometry.shape))}
    found = []
    for leading, rows, columns in panels(geometry.shape):
        if leading is None:
            found.append(None)
            continue
        grid = [[None if None in (r, c) else ids[full_index(geometry.shape, leading, r, c)] for c in columns]
                for r in rows]
        found.append({"leading": list(leading), "rows": rows, "columns": columns, "grid": grid})
    return found


def _storage(geometry):
    slots = {geometry.slot(index) for index in shown_indices(geometry.shape)}
    return {"rows": [list(row) if row else None for row in storage_rows(slots, geometry.slots)],
            "slots": geometry.slots, "bytes": geometry.slots * geometry.itemsize, "itemsize": geometry.itemsize}


# Facts and verdicts

def _facts(geometry):
    return [["shape", _tuple(geometry.shape)], ["stride", _tuple(geometry.strides)],
            ["offset", str(geometry.offset)], ["dtype", f"{geometry.dtype}, {counted(geometry.itemsize, 'byte')} each"],
            ["storage", f"{counted(geometry.slots, 'slot')}, {human_bytes(geometry.slots * geometry.itemsize)}"]]


def _tuple(values):
    return str(tuple(values))


def _dims(geometry):
    """Per dim: the stride, the one a contiguous tensor would have, and whether that matters."""
    wanted = contiguous_strides(geometry.shape)
    return [{"dim": d, "size": geometry.shape[d], "stride": geometry.strides[d], "needed": wanted[d],
             "verdict": _dim_verdict(geometry, d, wanted)} for d in range(len(geometry.shape))]


def _dim_verdict(geometry, dim, wanted):
    if geometry.numel == 0 or geometry.shape[dim] == 1:
        return "ignored"
    return "ok" if geometry.strides[dim] == wanted[dim] else "differs"


def _notes(geometry):
    notes = [_contiguity(geometry), *_shared_note(geometry), *_walk_note(geometry)]
    hidden = geometry.numel - len(shown_indices(geometry.shape))
    if hidden:
        notes.append(f"Showing {geometry.numel - hidden} of {counted(geometry.numel, 'element')}.")
    if geometry.slots == 0 and geometry.numel:
        notes.append("This tensor has no storage (device meta): only its geometry exists.")
    return notes


def _contiguity(geometry):
    dims = _dims(geometry)
    wrong = next((d for d in reversed(dims) if d["verdict"] == "differs"), None)
    if wrong:
        return (f"is_contiguous: no. Dim {wrong['dim']} has stride {wrong['stride']}, but {wrong['needed']} is needed: "
                f"the product of the sizes after it.{_channels_last(geometry)}")
    if geometry.numel == 0:
        return "is_contiguous: yes. A tensor without elements always is."
    ignored = [str(d["dim"]) for d in dims if d["verdict"] == "ignored"]
    but = f" Size 1 makes the stride of dim {', '.join(ignored)} irrelevant." if ignored else ""
    return f"is_contiguous: yes. Every stride is the product of the sizes after it.{but}"


def _channels_last(geometry):
    """(N, C, H, W) stored as N, H, W, C is contiguous in another memory format."""
    if len(geometry.shape) != 4:
        return ""
    order = (0, 2, 3, 1)
    wanted = contiguous_strides([geometry.shape[d] for d in order])
    pairs = zip(order, wanted, strict=True)
    last = all(geometry.shape[d] == 1 or geometry.strides[d] == step for d, step in pairs)
    return " It is contiguous in channels_last." if last else ""


def _shared_note(geometry):
    dims = [str(d) for d, (n, s) in enumerate(zip(geometry.shape, geometry.strides, strict=True)) if s == 0 and n > 1]
    if not dims or not geometry.numel:
        return []
    return [f"Stride 0 in dim {', '.join(dims)}: moving along it stays in the same slot, so elements share slots."]


def _walk_note(geometry):
    """How often reading the elements in index order changes the cache line."""
    if not 1 < geometry.numel <= _WALK_LIMIT:
        return []
    lines = [geometry.line(geometry.slot(i)) for i in product(*map(range, geometry.shape))]
    changes = sum(a != b for a, b in zip(lines, lines[1:], strict=False))
    if len(set(lines)) == 1:
        return [f"All {geometry.numel} elements lie in one cache line of {CACHE_LINE} bytes."]
    return [f"Its {geometry.numel} elements lie in {counted(len(set(lines)), 'cache line')} of {CACHE_LINE} bytes; "
            f"reading them in index order changes the line {counted(changes, 'time')}."]


# Steps

def _walk(geometry):
    steps, before, changes = [], None, 0
    complete = geometry.numel == len(shown_indices(geometry.shape))
    for number, index in enumerate(shown_indices(geometry.shape)[:_WALK_STEPS]):
        slot = geometry.slot(index)
        line = geometry.line(slot)
        changes += before not in (None, line)
        steps.append({"ids": [f"c{number}", f"s{slot}"],
                      "msg": f"{list(index)}: {formula(geometry, index)}, in cache line {line}.",
                      "set": {"walk": {"text": str(changes)}} if complete else {}})
        before = line
    return steps


def _add_view(trace, geometry, sizes):
    """The view block, and its steps in place of the walk."""
    result = replay(geometry.shape, geometry.strides, sizes)
    trace.title += f", view{_tuple(result.shape)}"
    trace.options["view"] = {
        "shape": list(result.shape), "strides": None if result.strides is None else list(result.strides),
        "chunks": [vars(chunk) for chunk in result.chunks], "straddles": result.straddles,
        "verdict": _verdict(geometry, result),
    }
    trace.options["hint"] = "Step through the rule that view() follows."
    trace.steps = _view_steps(geometry, result, trace.options["view"]["verdict"])


def _verdict(geometry, result):
    if result.strides is not None:
        return f"view{_tuple(result.shape)} works without a copy: strides {_tuple(result.strides)}."
    size = human_bytes(geometry.numel * geometry.itemsize)
    return (f"view{_tuple(result.shape)} fails; reshape would copy {geometry.numel} elements ({size}) into new storage "
            f"with strides {_tuple(contiguous_strides(result.shape))}.")


def _view_steps(geometry, result, verdict):
    subjects = _step_subjects(geometry, result)
    steps = [{"ids": ids, "msg": said, "set": {}} for ids, said in zip(subjects, result.sentences, strict=True)]
    return [*steps, {"ids": ["verdict"], "msg": verdict, "set": {}}]


def _step_subjects(geometry, result):
    """What each sentence of the replay is about: first the old dims from the last, then chunks from the last."""
    if not result.chunks:
        return [[] for _ in result.sentences]
    old = [[f"d{d}"] for d in reversed(range(len(geometry.shape)))]
    order = list(enumerate(result.chunks))[::-1]
    dealt = [[f"k{number}", *(f"v{d}" for d in chunk.new)] for number, chunk in order]
    return (old + dealt)[:len(result.sentences)]
