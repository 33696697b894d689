"""The sentences above a graph picture: what it holds, what it hides, and whether backward() would work."""

from viz.saved import is_number, saved_count
from viz.tensors import human_bytes
from viz.wrap import counted


def graph_notes(model, direction):
    """Notes for a ``GraphModel``."""
    notes = []
    if model.graph.nodes:
        notes += [_count_note(model), *_fold_notes(model), *_saved_notes(model)]
    if direction != "backward" and model.graph.nodes:
        notes.append("Only operations recorded for backward are known here: constants leave no node.")
    return notes


def _count_note(model):
    leaves = sum(map(model.graph.is_leaf, model.order))
    return f"{counted(len(model.order) - leaves, 'operation')}, {counted(leaves, 'leaf', 'leaves')}."


def _fold_notes(model):
    if not model.folds:
        return []
    hidden = sum(len(fold.members) for fold in model.folds)
    total = len(model.order)
    crowds = all(fold.pattern == ("AccumulateGrad",) for fold in model.folds)
    more = "" if crowds else " A larger max_nodes unfolds them."
    return [
        f"Showing {total - hidden} of {counted(total, 'node')}: {counted(hidden, 'node')} are folded into "
        f"{counted(len(model.folds), 'card')}.{more}"
    ]


def _saved_notes(model):
    kept = [item for items in model.saved.values() for item in items if item["state"] == "kept"]
    numbers, notes = sum(map(is_number, kept)), []
    if kept:
        size = f"; storage kept alive: {human_bytes(sum(model.storages.values()))}"
        tensors = len(kept) - numbers
        notes.append(f"Saved for backward: {saved_count(tensors, numbers)}{size if tensors else ''}.")
    spent = model.first_spent()
    if spent is not None:
        notes.append(_spent_note(model, spent))
    return notes


def _spent_note(model, node):
    if model.spent(node) == "changed":
        return f"backward() would fail at {model.label(node)}: a tensor it saved has since been changed in place."
    return f"backward() has been here: saved tensors are freed, so another backward() fails at {model.label(node)}."
