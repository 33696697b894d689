"""``viz.grads``: which gradients backward() computes, which it keeps, and which it drops, in bytes."""

import sys

from viz.graph_model import GraphModel
from viz.names import find_names
from viz.picture import Picture
from viz.strips import head, strip, strip_text
from viz.tensors import byte_count, describe, dtype_name, element_count, human_bytes, is_module, require_tensor
from viz.trace import Trace
from viz.wrap import counted

MAX_ROWS = 24
_SIZES = {"float64": 8, "complex64": 8, "complex128": 16, "float16": 2, "bfloat16": 2}


def grads(what, *, names=None):
    """Leaf, non-leaf or retained: which gradients are kept, and which are computed and dropped, in bytes.

    what: a loss (every gradient of its graph), a list of tensors, or a module (its parameters); of teachtorch
    or PyTorch. names: as for ``viz.graph``.
    Raises TypeError for anything else.
    """
    known = find_names(names, sys._getframe(1))
    if is_module(what):
        rows = [_tensor_row(name, p) for name, p in what.named_parameters()]
        return Picture(_trace(f"gradients of {type(what).__name__}", rows))
    if isinstance(what, (list, tuple)):
        tensors = [require_tensor(t, "viz.grads") for t in what]
        rows = [_tensor_row(_name(known, t, k), t) for k, t in enumerate(tensors)]
        return Picture(_trace(f"gradients of {counted(len(rows), 'tensor')}", rows))
    require_tensor(what, "viz.grads")
    title = f"gradients of {_name(known, what, 0)}"
    if not what.requires_grad:
        return Picture(_trace(title, [_tensor_row(_name(known, what, 0), what)]))
    return Picture(_trace(title, _graph_rows(GraphModel([what], known, False, 10**6))))


def _name(known, tensor, number):
    found = known.of(tensor)
    return found[0] if found else f"tensor {number}"


# Rows


def _row(label, what, kind, size, grad):
    return {"label": label, "what": what, "kind": kind, "bytes": size, "grad": grad}


def _tensor_row(name, t):
    size = byte_count(t) if t.requires_grad else 0
    return _row(name, describe(t.shape, t.dtype), _kind(t), size, _grad(t))


def _kind(t):
    if not t.requires_grad:
        return "none"
    return "leaf" if t.is_leaf else "retained" if getattr(t, "retains_grad", False) else "non-leaf"


def _grad(t):
    """The values in .grad; None where it is None, or would only warn."""
    if not t.is_leaf and not getattr(t, "retains_grad", False):
        return None
    return None if t.grad is None else {**strip(head(t.grad)), "text": strip_text(head(t.grad))}


def _graph_rows(model):
    """One row per gradient that backward() computes, in the order in which it is complete."""
    rows = []
    for node in model.order:
        if model.graph.is_leaf(node):
            variable = model.graph.nodes[node].variable
            rows.append(_tensor_row(_leaf_name(model, node), variable))
        else:
            rows += [_output_row(model, node, slot) for slot in sorted(model.inputs_used[node])]
    return rows


def _leaf_name(model, node):
    known = model.leaf_names(node)
    return known[0] if known else "an unnamed leaf"


def _output_row(model, node, slot):
    tensor, known = model.output_tensor(node, slot), model.output_names(node, slot)
    if tensor is not None:
        return _tensor_row(known[0] if known else "unnamed", tensor)
    metadata = getattr(model.graph.nodes[node], "_input_metadata", None) or ()
    label = f"result of {model.label(node)}"
    if slot >= len(metadata):
        return _row(label, "", "non-leaf", 0, None)
    shape, dtype = metadata[slot].shape, metadata[slot].dtype
    size = element_count(shape) * _SIZES.get(dtype_name(dtype), 4)
    return _row(label, describe(shape, dtype), "non-leaf", size, None)


# Trace

OUTCOMES = {
    "leaf": "kept in .grad",
    "retained": "kept: retain_grad()",
    "non-leaf": "computed, dropped",
    "none": "none: requires_grad False",
}


def _trace(title, rows):
    trace = Trace("grads", title)
    shown, hidden = rows[:MAX_ROWS], rows[MAX_ROWS:]
    trace.nodes = [{"id": f"g{k}", **row} for k, row in enumerate(shown)]
    trace.notes = _notes(rows, hidden)
    trace.options = {"hint": "", "largest": max((row["bytes"] for row in rows), default=0)}
    return trace


def _notes(rows, hidden):
    kept = [row for row in rows if row["kind"] in ("leaf", "retained")]
    dropped = [row for row in rows if row["kind"] == "non-leaf"]
    notes = [f"backward() computes {_total(kept + dropped)}: {_total(kept)} kept, {_total(dropped)} dropped again."]
    filled = sum(row["grad"] is not None for row in kept)
    notes.append(f"Right now {filled} of the {len(kept)} .grad that backward() keeps hold values.")
    if hidden:
        notes.append(f"{counted(len(hidden), 'further gradient')} not shown, {_size(hidden)}.")
    return notes


def _total(rows):
    return f"{counted(len(rows), 'gradient')} ({_size(rows)})"


def _size(rows):
    return human_bytes(sum(row["bytes"] for row in rows))
