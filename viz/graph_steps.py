"""The steps of a graph's player: one sentence each."""

from viz.graph_model import edge_id
from viz.saved import released

STEP_LIMIT = 400
_LISTED = 5
SECOND_BACKWARD = "Trying to backward through the graph a second time"


def backward_steps(model):
    """What the engine does, node by node, until it ends or meets a saved tensor it cannot use."""
    steps = [_start(model)] if model.visits else []
    for visits in _by_card(model):
        node = visits[0].node
        if not model.folded(node) and model.spent(node):
            return steps + [_failure(model, node)]
        steps.append(_fold_step(model, visits) if model.folded(node) else _visit_step(model, visits[0]))
    return _limited(steps)


def _by_card(model):
    """Visits in order; neighbours that share a card form one group."""
    groups, last = [], None
    for visit in model.visits:
        card = model.card[visit.node]
        if card == last:
            groups[-1].append(visit)
        else:
            groups.append([visit])
        last = card
    return groups


def _limited(steps):
    if len(steps) <= STEP_LIMIT:
        return steps
    hidden = len(steps) - STEP_LIMIT
    return [*steps[:STEP_LIMIT], {"ids": [], "msg": f"{hidden} further steps are not shown.", "set": {}}]


def _start(model):
    places = dict.fromkeys(place for place, _ in model.graph.roots)
    entries = [f"{model.label(place)}" for place in places]
    changes = {f"{model.card[p]}.waits": {"text": "ready"} for p in places if model.arrivals[p] == 0}
    msg = (
        f"backward() starts: the engine has counted how many gradients each node waits for, and hands the "
        f"first gradient to {listed(entries)}."
    )
    ids = [f"r{k}" for k in range(len(model.roots))] + [model.card[p] for p in places]
    changes["queue"] = {"text": _queue(model, [p for p in places if model.arrivals[p] == 0])}
    return {"ids": ids, "msg": msg, "set": changes}


def _waits(count):
    return f"waits for {count}" if count else "ready"


def _queue(model, ready):
    return ", ".join(model.label(node) for node in ready) if ready else "empty"


def listed(words):
    """``a``, ``a and b``, ``a, b and 3 others``."""
    if len(words) > _LISTED:
        words = [*words[: _LISTED - 1], f"{len(words) - _LISTED + 1} others"]
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + " and " + words[-1]


def _visit_step(model, visit):
    changes = {model.card[visit.node]: {"state": "done"}, "queue": {"text": _queue(model, visit.ready)}}
    changes[f"{model.card[visit.node]}.waits"] = {"text": "done"}
    tell = _leaf_message if model.graph.is_leaf(visit.node) else _op_message
    msg = tell(model, visit, changes)
    for _, target, _, waits in visit.sends:
        if not model.folded(target):
            changes[f"{model.card[target]}.waits"] = {"text": _waits(waits)}
            if waits == 0:
                changes[model.card[target]] = {"state": "ready"}
    return {"ids": [model.card[visit.node], *_edges_of(model, visit)], "msg": msg, "set": changes}


def _edges_of(model, visit):
    """Ids of the drawn edges along which the node sends gradients."""
    ends = [
        model.edge_ends(visit.node, slot)
        for slot, target, _, _ in visit.sends
        if model.card[target] != model.card[visit.node]
    ]
    return list(dict.fromkeys(edge_id(e) for e in ends))


def _leaf_message(model, visit, changes):
    had = model.graph.nodes[visit.node].variable.grad is not None
    name, card = model.label(visit.node), model.card[visit.node]
    changes[f"{card}.grad"] = {"text": ".grad +=" if had else ".grad = gradient"}
    if had:
        return f"AccumulateGrad of {name} runs: the gradient is added to the .grad that is already there."
    return f"AccumulateGrad of {name} runs: .grad was None, so the gradient becomes {name}.grad."


def _op_message(model, visit, changes):
    name = model.label(visit.node)
    kept = _retained(model, visit.node, changes)
    freed = _release(model, visit.node, changes)
    if not visit.sends:
        return f"{name} runs, but no input of its operation needs a gradient{kept}{freed}."
    parts = unique([_sent(model, *send) for send in visit.sends])
    return f"{name} runs and sends a gradient to {listed(parts)}{kept}{freed}."


def unique(parts):
    """Two edges to one target read better as "twice"; the last one tells how many are still missing."""
    last = {}
    for name, rest in parts:
        last.setdefault(name, []).append(rest)
    return [f"{name}{' twice' if len(rests) == 2 else ''}{rests[-1]}" for name, rests in last.items()]


def _sent(model, slot, target, input_nr, waits):
    port = "" if model.graph.is_leaf(target) or input_nr == 0 else f" (input {input_nr})"
    state = " (now ready)" if waits == 0 else f" (which waits for {waits} more)"
    return model.label(target) + port, state


def _retained(model, node, changes):
    """retain_grad() takes the whole incoming gradient before the node runs, replacing what was there."""
    slots = [slot for slot in sorted(model.inputs_used[node]) if model.retains_grad(node, slot)]
    for slot in slots:
        changes[f"{model.card[node]}.{slot}.grad"] = {"text": f"{model.output_names(node, slot)[0]}.grad ="}
    known = [f"{model.output_names(node, slot)[0]}.grad" for slot in slots]
    return f" (retain_grad() has just kept {listed(known)})" if known else ""


def _release(model, node, changes):
    """backward() without retain_graph lets go of saved tensors right after their node has run."""
    kept = [item for item in model.saved.get(node, ()) if item["state"] == "kept"]
    if not kept:
        return ""
    changes[f"{model.card[node]}.saved"] = {"state": "freed"}
    return f", then lets go of {released(kept)}"


def _failure(model, node):
    name, card = model.label(node), model.card[node]
    if model.spent(node) == "changed":
        msg = (
            f"{name} cannot run: a tensor it saved has been changed in place, and the version check raises a "
            "RuntimeError."
        )
    else:
        msg = f'{name} cannot run: its saved tensors are freed, and PyTorch raises "{SECOND_BACKWARD}".'
    return {"ids": [card], "msg": msg, "set": {card: {"state": "failed"}, f"{card}.waits": {"text": "fails"}}}


def _fold_step(model, visits):
    card = model.card[visits[0].node]
    changes = {card: {"state": "done"}, "queue": {"text": _queue(model, visits[-1].ready)}}
    sends = [send for visit in visits for send in visit.sends if model.card[send[1]] != card]
    for _, target, _, waits in sends:
        if not model.folded(target):
            changes[f"{model.card[target]}.waits"] = {"text": _waits(waits)}
    msg = f"The {len(visits)} folded nodes run one after the other." if len(visits) > 1 else "A folded node runs."
    edges = dict.fromkeys(edge for visit in visits for edge in _edges_of(model, visit))
    return {"ids": [card, *edges], "msg": msg, "set": changes}


def forward_steps(model):
    """How the graph came to be: nodes in order of creation."""
    steps, last = [], None
    for node in sorted(model.created, key=model.created.get):
        card = model.card[node]
        if card != last:
            steps.append({"ids": [card], "msg": _made(model, node), "set": {card: {"state": "done"}}})
        last = card
    reset = {model.card[node]: {"state": ""} for node in model.created}
    return _limited(steps) + ([{"ids": [], "msg": "The forward pass is done.", "set": reset}] if steps else [])


def _made(model, node):
    if model.folded(node):
        return "The folded operations run, and each adds its node to the graph."
    known = [name for slot in sorted(model.inputs_used[node]) for name in model.output_names(node, slot)]
    result = f" The result is {listed(known)}." if known else ""
    kept = [item["name"] for item in model.saved.get(node, ())]
    saves = f" and saves {listed(kept)}" if kept else ""
    return f"The operation adds {model.label(node)} to the graph{saves}.{result}"
