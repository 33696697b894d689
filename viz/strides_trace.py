"""``viz.strides``: from a tensor to the trace of its elements, its storage and its strides."""

import sys

from viz.names import find_names
from viz.picture import Picture
from viz.strides_cells import full_index, panels, shown_indices, storage_rows
from viz.strides_geometry import Geometry, formula
from viz.strides_notes import dim_rows, fact_rows, stride_notes
from viz.strides_steps import add_view, walk_steps
from viz.tensors import require_tensor
from viz.trace import Trace


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
    geometry = Geometry(t)
    return Picture(strides_trace(geometry, known[0] if known else "a tensor", _view_sizes(view)))


def _view_sizes(view):
    if view is None:
        return None
    sizes = (view,) if isinstance(view, int) else tuple(view)
    if not all(isinstance(size, int) for size in sizes):
        raise TypeError(f"view takes sizes, such as view=(2, 6); got {view!r}")
    return sizes


def strides_trace(geometry, name, view=None):
    """The trace of a ``Geometry``."""
    trace = Trace("strides", f"strides of {name}")
    trace.nodes = _nodes(geometry)
    trace.notes = stride_notes(geometry)
    trace.options = {
        "facts": fact_rows(geometry),
        "dims": dim_rows(geometry),
        "panels": _panels(geometry),
        "storage": _storage(geometry),
        "tie": True,
        "hint": "Point at an element or a slot, or step with the arrow keys.",
    }
    trace.steps = walk_steps(geometry)
    if view is not None:
        add_view(trace, geometry, view)
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
    return {
        "id": f"c{number}",
        "kind": "cell",
        "index": list(index),
        "slot": slot,
        "text": geometry.value(slot),
        "row": number_of_row(geometry.shape, index),
        "links": [f"s{slot}"],
        "tip": f"{list(index)}: {formula(geometry, index)}",
    }


def number_of_row(shape, index):
    """Which row of the grid, counted through all panels: rows share a colour with their slots."""
    row = 0
    for i, size in zip(index[:-1], shape[:-1], strict=True):
        row = row * size + i
    return row


def _slot(geometry, number, cells):
    rows = sorted({cell["row"] for cell in cells})
    return {
        "id": f"s{number}",
        "kind": "slot",
        "number": number,
        "text": geometry.value(number),
        "used": bool(cells) or geometry.holds(number),
        "line": geometry.line(number),
        "starts": number == 0 or geometry.line(number - 1) != geometry.line(number),
        "shared": len(cells) if len(cells) > 1 else 0,
        "row": rows[0] if len(rows) == 1 else None,
        "links": [cell["id"] for cell in cells],
        "tip": _slot_tip(geometry, number, cells),
    }


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
        grid = [
            [None if None in (r, c) else ids[full_index(geometry.shape, leading, r, c)] for c in columns]
            for r in rows
        ]
        found.append({"leading": list(leading), "rows": rows, "columns": columns, "grid": grid})
    return found


def _storage(geometry):
    slots = {geometry.slot(index) for index in shown_indices(geometry.shape)}
    return {
        "rows": [list(row) if row else None for row in storage_rows(slots, geometry.slots)],
        "slots": geometry.slots,
        "bytes": geometry.slots * geometry.itemsize,
        "itemsize": geometry.itemsize,
    }
