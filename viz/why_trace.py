"""``viz.why``: why is ``.grad`` None?"""

import sys
from itertools import pairwise

from viz.names import find_names
from viz.picture import Picture
from viz.strips import head, strip_text
from viz.tensors import describe, element_count, require_tensor
from viz.trace import Trace
from viz.why_facts import gather, path_to
from viz.why_reasons import REASONS, answer
from viz.wrap import counted

_SHOWN = 5


def why(t, loss=None, *, names=None):
    """Why ``t.grad`` is None: which of seven reasons, where the path from the loss breaks, and the fix.

    What leaves no trace is not guessed: then the picture lists the causes that look alike afterwards.

    t: a tensor of teachtorch or PyTorch.
    loss: the tensor whose backward() should have filled ``t.grad``; None takes the one-element result among
        the caller's variables, if there is just one or one is called ``loss``.
    names: as for ``viz.graph``.
    Reading ``.grad`` of a non-leaf warns in PyTorch; this function asks without warning.
    Raises TypeError for something that is not a tensor.
    """
    require_tensor(t, "viz.why")
    frame = sys._getframe(1)
    known = find_names(names, frame)
    if loss is None:
        loss = _likely_loss(t, known)
    else:
        require_tensor(loss, "viz.why")
    facts = gather(t, loss, known, frame)
    return Picture(_filled_trace(facts) if _has_grad(t) else _why_trace(facts))


def _likely_loss(t, names):
    """The caller's one result of one element; of several the one called ``loss``."""
    found = [o for o in names.tensors.values() if o is not t and o.grad_fn is not None]
    found = [o for o in found if element_count(o.shape) == 1]
    named = [o for o in found if "loss" in names.of(o)]
    return named[0] if named else found[0] if len(found) == 1 else None


def _has_grad(t):
    """Reading .grad of a non-leaf that retains none would only warn."""
    return (t.is_leaf or getattr(t, "retains_grad", False)) and t.grad is not None


def _filled_trace(facts):
    name = facts.name(facts.t)
    trace = Trace("why", f"{name}.grad is not None")
    trace.notes = [f"{name}.grad is {strip_text(head(facts.t.grad))}."]
    if not bool((facts.t.grad != 0).any()):
        trace.notes.append(
            ("Every value is zero: zero_grad(set_to_none=False) writes zeros, and so does a gradient that is zero.")
        )
    trace.nodes = [_subject(facts, "")]
    trace.options = {"fix": [], "checks": [], "cause": "", "hint": ""}
    return trace


def _why_trace(facts):
    found = answer(facts)
    trace = Trace("why", f"why is {facts.name(facts.t, 't')}.grad None?")
    trace.notes = found.sentences
    trace.nodes, trace.edges = _chain(facts, found)
    trace.options = {
        "fix": found.fix,
        "cause": found.cause,
        "hint": "",
        "checks": [
            {"id": f"c{k}", "reason": key, "title": title, "verdict": found.checks[key][0], "why": found.checks[key][1]}
            for k, (key, title) in enumerate(REASONS.items())
        ],
    }
    return trace


# The chain from the loss to the tensor


def _chain(facts, found):
    """Boxes from the loss down to ``t``, and the links between them; one of them is broken."""
    if facts.place is not None:
        boxes, broken = _whole(facts, found)
    elif facts.cut is not None and facts.cut.node is not None:
        boxes, broken = _with_cut(facts)
    elif facts.graph is not None and facts.t.requires_grad:
        boxes, broken = _without_path(facts)
    else:
        boxes, broken = _without_graph(facts)
    for number, box in enumerate(boxes):
        box["id"] = f"b{number}"
    return boxes, _links(boxes, broken, found)


def _links(boxes, broken, found):
    links = []
    for number, (above, below) in enumerate(pairwise(boxes), 1):
        state = "broken" if number == broken else "whole" if broken is None or number < broken else "beyond"
        label = found.broken if number == broken else ""
        links.append({"id": f"l{number}", "from": above["id"], "to": below["id"], "state": state, "label": label})
    return links


def _box(kind, label, what="", note=""):
    return {"id": "", "kind": kind, "label": label, "what": what, "note": note}


def _subject(facts, note):
    t = facts.t
    word = "leaf" if t.is_leaf and t.requires_grad else "non-leaf" if t.requires_grad else "requires_grad False"
    return _box("subject", facts.name(t), describe(t.shape, t.dtype), note or word)


def _loss(facts):
    loss = facts.loss
    return _box("loss", facts.name(loss, "the loss"), describe(loss.shape, loss.dtype), "backward() starts here")


def _ops(facts, path):
    """Boxes for the nodes of a path; the middle of a long one is one box."""
    boxes = [_box("op", facts.graph.name(k)) for k in path if not facts.graph.is_leaf(k)]
    if len(boxes) <= _SHOWN:
        return boxes
    hidden = len(boxes) - _SHOWN + 1
    return [*boxes[:2], _box("more", f"{counted(hidden, 'more node')}"), *boxes[2 + hidden :]]


def _whole(facts, found):
    """The path arrives. A non-leaf's own node comes after it: the gradient goes on to the inputs."""
    if facts.t.is_leaf:
        return [_loss(facts), *_ops(facts, facts.path), _subject(facts, found.broken)], None
    own = _ops(facts, [facts.place])
    return [_loss(facts), *_ops(facts, facts.path[:-1]), _subject(facts, found.broken), *own], None


def _with_cut(facts):
    cut = facts.cut
    path = path_to(facts.graph, cut.node)
    note = "a view made under no_grad()" if cut.is_view else "has no graph"
    piece = _box("cut", facts.name(cut.piece, "a tensor"), describe(cut.piece.shape, cut.piece.dtype), note)
    boxes = [_loss(facts), *_ops(facts, path), piece]
    rest = [_subject(facts, "")]
    if cut.source is not facts.t:
        source = facts.name(cut.source, "a tensor")
        rest.insert(0, _box("op", source, describe(cut.source.shape, cut.source.dtype), "the same memory"))
    return [*boxes, *rest], len(boxes)


def _without_path(facts):
    boxes = [_loss(facts), _summary(facts)]
    if facts.ghost is not None:
        ghost = facts.ghost
        grad = "None" if ghost.grad is None else strip_text(head(ghost.grad))
        boxes.append(_box("ghost", "a nameless leaf", describe(ghost.shape, ghost.dtype), f".grad {grad}"))
    return [*boxes, _subject(facts, "")], len(boxes)


def _summary(facts):
    graph = facts.graph
    leaves = [k for k in range(len(graph.nodes)) if graph.is_leaf(k)]
    named = [n for k in leaves for n in facts.names.of(graph.nodes[k].variable)[:1]]
    reached = f"reaches {', '.join(named[:4])}{', ...' if len(named) > 4 else ''}" if named else ""
    return _box("more", counted(len(graph.nodes) - len(leaves), "operation"), reached)


def _without_graph(facts):
    """``t``, or the loss, requires no grad: what came before is gone, unless a living tensor shows it."""
    if facts.loss is not None and not facts.loss.requires_grad and facts.t.requires_grad:
        ended = {**_loss(facts), "note": "has no graph"}
        return [ended, _subject(facts, "")], 1
    if facts.twin is not None:
        twin = facts.twin
        above = _box("op", facts.name(twin, "a tensor"), describe(twin.shape, twin.dtype), "requires grad")
    elif facts.loss is not None and facts.graph is not None:
        above = _loss(facts)
    else:
        above = _box("more", "any loss")
    return [above, _subject(facts, "")], 1
