"""``viz.play``: a backward that really runs, step by step."""

import sys

from viz.engines import library_of
from viz.graph_model import GraphModel
from viz.graph_trace import graph_trace, roots_of
from viz.names import find_names
from viz.picture import Picture
from viz.play_again import again_steps
from viz.play_record import record
from viz.play_steps import Replay, buffer_id
from viz.strips import head
from viz.tensors import element_count
from viz.wrap import counted

MAX_NODES = 24


def play(loss, gradient=None, *, names=None, max_nodes=MAX_NODES):
    """Run ``loss.backward(retain_graph=True)`` and show what the engine did, gradient by gradient.

    ``viz.graph`` only reads; this function runs: hooks of tensors and nodes fire, Functions are called.
    Every ``.grad`` is put back afterwards, and the graph is kept: a ``backward()`` of your own still works.

    loss: a tensor of teachtorch or PyTorch that requires grad, or a list of them.
    gradient: the starting gradient, shaped as ``loss`` (a list for a list); None for one-element tensors.
    names, max_nodes: as for ``viz.graph``.
    Raises TypeError for something that is not a tensor, ValueError for a tensor without graph, and what
    ``backward()`` raises before its first node. An error of a node is part of the picture.
    """
    roots = roots_of(loss, "viz.play")
    for root in roots:
        if not root.requires_grad:
            raise ValueError("viz.play needs a tensor that requires grad; viz.why(t) says why this one does not")
    model = GraphModel(roots, find_names(names, sys._getframe(1)), True, max_nodes)
    gradients = _gradients(roots, gradient)
    recording = record(model.graph, roots, gradients)
    return Picture(_play_trace(model, recording, gradients))


def _gradients(roots, gradient):
    if gradient is None:
        return None
    return list(gradient) if isinstance(gradient, (list, tuple)) else [gradient]


def _play_trace(model, recording, gradients):
    trace = graph_trace(model, "backward")
    trace.title = trace.title.replace("backward graph of", "backward of", 1)
    for node in trace.nodes:
        _add_buffers(node)
    seeds = _seeds(model.roots, gradients)
    trace.steps = _steps(model, recording, seeds)
    trace.notes.append(_ran_note(recording))
    trace.options.update(player="run", predict=True, hint="Each ▶ is one step of the engine. Arrow keys work too.")
    if not recording.error:
        trace.options["again"] = again_steps(model, recording, library_of(model.roots[0]), seeds)
    return trace


def _seeds(roots, gradients):
    if gradients is None:
        gradients = [None] * len(roots)
    ones = [root.detach() * 0 + 1 if element_count(root.shape) == 1 else None for root in roots]
    return [head(one if given is None else given) for given, one in zip(gradients, ones, strict=True)]


def _ran_note(recording):
    if recording.error:
        return "This backward really ran, and failed. Every .grad is as it was before."
    nodes = counted(len(recording.turns), "node")
    return f"This backward really ran ({nodes}); then every .grad was put back, and the graph was kept."


def _add_buffers(node):
    """A row per backward input that a gradient reaches: what has arrived there so far."""
    if node["kind"] == "op":
        used = [port["nr"] for port in node["ins"] if port["used"]]
    else:
        used = [0] if node["kind"] == "leaf" else []
    node["buffers"] = [{"id": buffer_id(node["id"], slot), "slot": slot} for slot in used]


def _steps(model, recording, seeds):
    replay = Replay(model, recording.before)
    steps, turns = [replay.start(seeds)], recording.turns
    last = turns[-1] if recording.error else None
    for group in _by_card(model, turns):
        if group[-1] is last:
            return [*steps, _failure(model, last.node, recording.error)]
        steps.append(replay.fold(group) if model.folded(group[0].node) else replay.turn(group[0]))
    return [*steps, _end(model)]


def _by_card(model, turns):
    groups = []
    for turn in turns:
        if groups and model.card[groups[-1][0].node] == model.card[turn.node]:
            groups[-1].append(turn)
        else:
            groups.append([turn])
    return groups


def _failure(model, node, sentence):
    card = model.card[node]
    changes = {card: {"state": "failed"}}
    if not model.folded(node):
        changes[f"{card}.waits"] = {"text": "fails"}
    return {"ids": [card], "msg": f"{model.label(node)} fails: {sentence}", "set": changes, "queue": []}


def _end(model):
    kept = "The nodes stay for as long as somebody refers to them."
    if not any(model.saved.values()):
        nothing = "No node had saved a tensor, so nothing was freed."
        msg = f"The queue is empty: backward() is done. {nothing} {kept}"
        return {"ids": [], "msg": msg, "set": {}, "queue": []}
    return {
        "ids": [],
        "msg": f"The queue is empty: backward() is done. The saved tensors are gone. {kept}",
        "kept": f"The queue is empty: backward() is done. retain_graph=True kept the saved tensors. {kept}",
        "set": {},
        "queue": [],
    }
