"""A second ``backward()`` over the same graph: saved tensors gone, or kept by ``retain_graph=True``."""

from viz.engines import runs_copy_slices_once, second_backward_sentence
from viz.play_steps import Replay
from viz.strips import added, strip, strip_text


def again_steps(model, recording, library, seeds):
    """``{"freed": steps, "kept": steps}``: how a second backward goes on, by what the first one left."""
    once = {"CopySlices"} if runs_copy_slices_once(library) else set()
    first = next((turn for turn in recording.turns if _is_spent(model, turn.node, once)), None)
    whole = _summed(model, recording)
    return {"freed": _until(model, recording, library, seeds, first) if first else whole, "kept": whole}


def _is_spent(model, node, once):
    """Whether ``node`` cannot run again: it saved tensors, or is of a kind that runs once."""
    if model.graph.name(node) in once:
        return True
    return any(item["state"] in ("kept", "packed") for item in model.saved.get(node, ()))


def _until(model, recording, library, seeds, first):
    """Nodes that saved nothing run again; the first one that had saved a tensor fails."""
    replay = Replay(model, recording.after)
    start = replay.start(seeds)
    start["set"] = _fresh(model)
    start["msg"] = "backward() again, on the same graph: the nodes are all there, the saved boxes are empty."
    steps = [start]
    for turn in recording.turns[: recording.turns.index(first)]:
        if not model.folded(turn.node):
            steps.append(replay.turn(turn, again=True))
    return [*steps, _failure(model, first.node, second_backward_sentence(library))]


def _failure(model, node, sentence):
    card = model.card[node]
    msg = (
        f"{model.label(node)} asks for what it saved, finds the box empty, and the engine raises: {sentence}"
    )
    changes = {card: {"state": "failed"}, f"{card}.waits": {"text": "fails"}}
    return {"ids": [card], "msg": msg, "set": changes, "queue": []}


def _fresh(model):
    """Every card as before the first node ran, except .grad and the saved boxes."""
    changes = {}
    for node in model.order:
        if model.folded(node):
            changes[model.card[node]] = {"state": ""}
            continue
        card = model.card[node]
        changes[card] = {"state": ""}
        changes[f"{card}.waits"] = {"text": f"waits for {model.arrivals[node]}"}
        for slot in model.inputs_used[node]:
            changes[f"{card}.b{slot}"] = {"text": "empty", "values": {"cells": [], "more": 0}}
    return changes


def _summed(model, recording):
    """The whole second run in one step: same nodes, same order, the same gradients added once more."""
    came = {turn.node: turn.arrived[0] for turn in recording.turns if model.graph.is_leaf(turn.node)}
    step = {"ids": [], "msg": "", "set": {}, "queue": []}
    parts = []
    for node, gradient in came.items():
        total = added(recording.after[node], gradient)
        card = model.card[node]
        if not model.folded(node):
            step["ids"].append(card)
            step["set"][f"{card}.grad"] = {"text": ".grad", "values": strip(total)}
        parts.append(f"{model.label(node)}.grad {strip_text(recording.after[node])} → {strip_text(total)}")
    shown = "; ".join(parts[:4]) + ("; ..." if len(parts) > 4 else "")
    step["msg"] = (
        "backward() again: every saved tensor is still there, so the same nodes run in the same order, and "
        f"the gradients are added once more: {shown}."
    )
    return [step]
