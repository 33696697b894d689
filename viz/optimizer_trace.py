"""``viz.optimizer``: what an optimizer keeps for each parameter, and what one of its steps costs."""

import sys

from viz.engines import LIBRARIES
from viz.names import find_names
from viz.optimizer_step import WAYS, columns_of, ways
from viz.picture import Picture
from viz.strips import short
from viz.tensors import byte_count, describe, element_count, human_bytes, is_tensor
from viz.trace import Trace
from viz.wrap import counted

SHOWN = 10
COLUMNS = 6


def optimizer(optimizer, names=None):
    """Draw parameters, gradients and state of an optimizer in bytes, and one step in each implementation.

    The step is counted on stand-ins: the optimizer itself makes none. For PyTorch's only the state is drawn: it
    has no public counter of launches.

    optimizer: an optimizer of teachtorch or PyTorch. names: as for ``viz.graph``.
    Raises TypeError for another object.
    """
    library = _library(optimizer)
    known = find_names(names, sys._getframe(1))
    found = ways(optimizer) if library == "teachtorch" else []
    return Picture(optimizer_trace(optimizer, known, found, library))


def _library(optimizer):
    for cls in type(optimizer).__mro__:
        name = cls.__module__.split(".")[0]
        if name in LIBRARIES and cls.__name__ == "Optimizer":
            return name
    raise TypeError(f"viz.optimizer takes an optimizer of teachtorch or PyTorch, got {type(optimizer).__name__}")


def optimizer_trace(optimizer, known, found, library):
    """The trace. found: a ``Way`` per implementation."""
    rows = _rows(optimizer, known)
    trace = Trace("optimizer", _title(optimizer, rows))
    trace.nodes, hidden = rows[:SHOWN], rows[SHOWN:]
    trace.groups = [_group(group, g) for g, group in enumerate(optimizer.param_groups)]
    labels = {id(p): row["label"] for p, row in zip(_parameters(optimizer), rows, strict=True)}
    columns = columns_of(optimizer)
    for way in found:
        trace.groups.append(_way(way, columns))
        trace.nodes += _cells(way)
    trace.notes = _notes(rows, hidden, found, library, optimizer)
    trace.options = {"columns": [labels[id(p)] for p in columns[:COLUMNS]], "hidden": len(columns[COLUMNS:])}
    trace.options |= {"largest": max((sum(row["sizes"].values()) for row in rows), default=1) or 1}
    trace.options |= {"hint": "Step through one step of each implementation." if found else ""}
    trace.steps = _steps(found, trace)
    return trace


def _title(optimizer, rows):
    elements = sum(row["elements"] for row in rows)
    return f"{type(optimizer).__name__} over {counted(len(rows), 'parameter')}, {counted(elements, 'element')}"


# State


def _parameters(optimizer):
    return [p for group in optimizer.param_groups for p in group["params"]]


def _rows(optimizer, known):
    rows = []
    for g, group in enumerate(optimizer.param_groups):
        given = group.get("param_names") or [None] * len(group["params"])
        for p, name in zip(group["params"], given, strict=True):
            rows.append(_row(p, optimizer.state.get(p) or {}, name or _name(p, known, len(rows)), f"g{g}", len(rows)))
    return rows


def _name(p, known, number):
    names = known.of(p)
    return names[0] if names else f"parameter {number}"


def _row(p, state, name, group, number):
    """sizes: bytes of the parameter, its gradient, and each tensor of its state."""
    grad = None if p.grad is None else byte_count(p.grad)
    entries = [_entry(key, value) for key, value in state.items()]
    sizes = {"parameter": byte_count(p), "grad": grad or 0}
    sizes |= {entry["name"]: entry["bytes"] for entry in entries if entry["bytes"]}
    return {
        "id": f"p{number}",
        "kind": "parameter",
        "group": group,
        "label": name,
        "what": describe(p.shape, p.dtype),
        "elements": element_count(p.shape),
        "grad": grad,
        "sizes": sizes,
        "state": entries,
    }


def _entry(key, value):
    """A single number is shown as it is; a tensor by its bytes."""
    if is_tensor(value) and element_count(value.shape) > 1:
        return {"name": str(key), "bytes": byte_count(value), "text": ""}
    number = value.item() if is_tensor(value) else value
    text = short(float(number)) if isinstance(number, (int, float)) else type(number).__name__
    return {"name": str(key), "bytes": byte_count(value) if is_tensor(value) and value.dim() else 0, "text": text}


def _group(group, number):
    options = {name: _option(value) for name, value in group.items() if name not in ("params", "param_names")}
    shown = {name: value for name, value in options.items() if value not in ("None", "False", "0")}
    return {"id": f"g{number}", "kind": "group", "label": f"group {number}", "options": shown}


def _option(value):
    return short(value.item()) if is_tensor(value) else str(value)


# One step


def _way(way, columns):
    total = sum(byte_count(p) for p in columns)
    return {
        "id": f"way {way.name}",
        "kind": "way",
        "label": way.name,
        "launches": way.count,
        "cuda": way.cuda,
        "bytes": way.bytes_moved,
        "words": round(way.bytes_moved / total, 2) if way.bytes_moved and total else None,
    }


def _cells(way):
    """The launches as cells of a grid of operations and parameters; none where a kernel mixes elements."""
    if way.bytes_moved is None:
        return []
    cells, rows = [], {}
    for k, launch in enumerate(way.launches):
        row = rows[launch.first] = rows.get(launch.first, -1) + 1
        if launch.first < COLUMNS:
            place = {"first": launch.first, "last": min(launch.last, COLUMNS), "row": row}
            cells.append({"id": f"{way.name} {k}", "kind": "launch", "way": way.name, "label": launch.op, **place})
    return cells


def _notes(rows, hidden, found, library, optimizer):
    sums = [sum(row["sizes"]["parameter"] for row in rows), sum(row["grad"] or 0 for row in rows)]
    state = sum(size for row in rows for name, size in row["sizes"].items() if name not in ("parameter", "grad"))
    notes = [f"Parameters {human_bytes(sums[0])}, gradients {human_bytes(sums[1])}, state {human_bytes(state)}."]
    skipped = [row["label"] for row in rows if row["grad"] is None]
    if skipped:
        shown = ", ".join(skipped[:3]) + (" ..." if len(skipped) > 3 else "")
        notes.append(f"No gradient, so step() passes over it: {shown}.")
    if hidden:
        notes.append(f"Showing {SHOWN} of {len(rows)} parameters.")
    if library == "torch":
        notes.append("Launches are not counted: PyTorch has no public counter. Build the same one with teachtorch.")
    elif found:
        missing = [name for name in WAYS if name not in {way.name for way in found}]
        notes += [f"{type(optimizer).__name__} has no {' and no '.join(missing)} implementation."] if missing else []
        if any(way.bytes_moved is None for way in found):
            notes.append("Its kernels do not all go element by element: only their number is told.")
    else:
        notes.append("No step is drawn: it has no gradient yet, or its step asks for a closure.")
    return notes


def _steps(found, trace):
    cells = [node for node in trace.nodes if node["kind"] == "launch"]
    if not cells:
        return []
    first = {"ids": [], "msg": "Before the step.", "set": {cell["id"]: {"state": "later"} for cell in cells}}
    return [first, *(step for way in found for step in _way_steps(way, cells, trace))]


def _way_steps(way, cells, trace):
    """A sentence per operation; in the for-loop per parameter."""
    mine = [cell for cell in cells if cell["way"] == way.name]
    by = "first" if way.name == "for-loop" else "row"
    for key in dict.fromkeys(cell[by] for cell in mine):
        now = [cell for cell in mine if cell[by] == key]
        ids = [cell["id"] for cell in now]
        yield {"ids": ids, "msg": _sentence(way, now, trace), "set": {id: {"state": "shown"} for id in ids}}


def _sentence(way, now, trace):
    if way.name == "for-loop":
        name = trace.options["columns"][now[0]["first"]]
        launches = counted(len(now), "launch", "launches")
        return f"for-loop: {name} is updated by {launches}, then the next parameter."
    if way.name == "foreach":
        return f"foreach: {now[0]['label']} for all parameters at once. The next operation reads them all again."
    return "fused: one launch reads each element once, does everything to it, and writes it back."
