"""``viz.module``: from a module to the trace of its tree, its tensors, and the shapes that pass through."""

from viz.module_calls import calls_of, input_text
from viz.module_tree import Fold, Held, Part, elements, hooks_of, rows_of, tensors_of, tree_of, walk
from viz.picture import Picture
from viz.tensors import human_bytes, is_module, is_tensor, storage_key
from viz.trace import Trace
from viz.wrap import counted

MAX_ROWS = 60
MAX_STEPS = 120
STATES = {
    "parameter": "trains",
    "frozen": "frozen: requires_grad is False",
    "buffer": "buffer",
    "unsaved": "buffer, not in state_dict",
}


def module(model, *example_input, max_rows=MAX_ROWS):
    """The tree of a module: tensors, flags and hooks; with an example input, the shapes on their way.

    model: an ``nn.Module`` of teachtorch or PyTorch. example_input: arguments of one call, made without a graph
    and in evaluation mode; it materializes lazy modules, and changes nothing else of theirs.
    max_rows: more modules and tensors than these fold, equal neighbours first.
    Raises TypeError for something that is no module, and whatever the call raises.
    """
    if not is_module(model):
        raise TypeError(f"viz.module takes a module, got {type(model).__name__}: pass an nn.Module of either library")
    calls = calls_of(model, example_input) if example_input else []
    return Picture(_trace(model, example_input, calls, max_rows))


def _trace(model, example_input, calls, max_rows):
    root, saved = tree_of(model), set(model.state_dict())
    trace = Trace("module", f"module {type(model).__name__}")
    rows = rows_of(root, saved, max_rows)
    shared = _shared(root, saved)
    trace.nodes = [_node(number, row, shared, saved) for number, row in enumerate(rows)]
    _link_shared(trace.nodes)
    trace.notes = _notes(root, rows, saved, example_input)
    trace.options = {"hint": _hint(calls), "tie": True, "flows": bool(calls)}
    _add_calls(trace, rows, calls)
    return trace


def _hint(calls):
    return "Step through the call." if calls else "Point at a shared tensor to see the other name it has."


# Rows


def _node(number, row, shared, saved):
    node = {"id": f"r{number}", "depth": row.depth if not isinstance(row, Held) else 0, "links": []}
    if isinstance(row, Held):
        return {**node, **_tensor(row, shared)}
    return {**node, **(_fold(row, saved) if isinstance(row, Fold) else _module(row))}


def _module(part):
    mode = "" if part.same_as is not None else "train" if getattr(part.module, "training", True) else "eval"
    is_repeated = part.same_as is not None
    words = [f"the same module as {part.same_as or 'the model'}"] if is_repeated else hooks_of(part.module)
    return {
        "kind": "module",
        "path": part.path,
        "label": part.name,
        "type": part.kind,
        "mode": mode,
        "words": words,
        "flow": "",
    }


def _fold(fold, saved):
    held = [h for part in fold.parts for h in tensors_of(part, saved)]
    like = f", each like {fold.like.name}" if fold.like is not None else ""
    tensors = f" with {counted(len(held), 'tensor')}, {_size(held)}" if held else ""
    return {
        "kind": "fold",
        "path": "",
        "label": fold.name,
        "type": f"{counted(len(fold.parts), 'module')}{tensors}{like}",
        "mode": "",
        "words": [],
        "flow": "",
    }


def _tensor(held, shared):
    first = shared[id(held.tensor)]
    same = "" if first == held.path else f"the same tensor as {first}"
    return {
        "kind": held.kind,
        "depth": held.path.count(".") + 1,
        "path": held.path,
        "label": held.name,
        "what": held.what,
        "size": "" if held.size is None or same else human_bytes(held.size),
        "state": same or STATES[held.kind],
        "first": first,
        "dtype": str(held.tensor.dtype).rsplit(".", 1)[-1],
    }


def _shared(root, saved):
    """{id of tensor: the first path that it has}."""
    first = {}
    for part in walk(root):
        for held in tensors_of(part, saved):
            first.setdefault(id(held.tensor), held.path)
    return first


def _link_shared(nodes):
    """Let rows of one tensor light up together."""
    rows = {}
    for node in nodes:
        if "first" in node:
            rows.setdefault(node["first"], []).append(node)
    for same in rows.values():
        for node in same if len(same) > 1 else ():
            node["links"] = [other["id"] for other in same if other is not node]
    for node in nodes:
        node["is_shared"] = bool(node["links"]) or node.get("state", "").startswith("the same tensor")


# Notes


def _notes(root, rows, saved, example_input):
    parts = list(walk(root))
    held = list({id(h.tensor): h for part in parts for h in tensors_of(part, saved)}.values())
    parameters = [h for h in held if h.kind in ("parameter", "frozen")]
    buffers = [h for h in held if h.kind in ("buffer", "unsaved")]
    notes = [f"{counted(len(parts), 'module')}; {_counted(parameters, 'parameter')}; {_counted(buffers, 'buffer')}."]
    frozen = [h for h in parameters if h.kind == "frozen"]
    if frozen:
        notes.append(f"Frozen: {_counted(frozen, 'parameter')}; the optimizer has nothing to do for them.")
    notes += _repeats(parts, saved, len(held)) + _memory(held) + _hidden(rows, parts) + _modes(parts)
    if example_input:
        notes.append(f"Shapes of one call with {input_text(example_input)}, in evaluation mode and without a graph.")
    return notes


def _counted(held, word):
    if not held:
        return f"no {word}s"
    waiting = sum(h.size is None for h in held)
    later = f", {waiting} of them without a shape yet" if waiting else ""
    return f"{counted(len(held), word)} of {counted(sum(map(elements, held)), 'element')}, {_size(held)}{later}"


def _size(held):
    return human_bytes(sum(h.size or 0 for h in held))


def _repeats(parts, saved, distinct):
    names = sum(len(tensors_of(part, saved)) for part in parts)
    repeated = sum(part.same_as is not None for part in parts)
    found = []
    if names > distinct:
        found.append(f"{counted(names - distinct, 'name')} more than tensors: shared ones are counted once.")
    if repeated:
        found.append(f"{counted(repeated, 'path')} to a module that is in the tree already: counted once.")
    return found


def _memory(held):
    """Tensors that are different objects over one storage."""
    owners = {}
    for h in held:
        if h.size and is_tensor(h.tensor) and storage_key(h.tensor):
            owners.setdefault(storage_key(h.tensor), []).append(h.path)
    groups = [paths for paths in owners.values() if len(paths) > 1]
    return [f"Views of one storage: {', '.join(paths)}." for paths in groups[:3]]


def _hidden(rows, parts):
    shown = sum(isinstance(row, Part) for row in rows)
    if shown == len(parts):
        return []
    return [f"Showing {shown} of {counted(len(parts), 'module')}; the rest is folded."]


def _modes(parts):
    flags = {bool(getattr(part.module, "training", True)) for part in parts}
    return ["Some parts are in training mode and some in evaluation mode."] if len(flags) > 1 else []


# Calls


def _add_calls(trace, rows, calls):
    """The shapes beside each row, and one step for each call that has a row of its own."""
    place = _places(trace.nodes, rows)
    seen, steps = {}, []
    for call in calls:
        node = place.get(id(call.module))
        if node is None:
            continue
        seen.setdefault(node["id"], []).append(call)
        if node["kind"] == "module" and len(steps) < MAX_STEPS:
            steps.append(_step(node, call))
    for node in trace.nodes:
        if node["id"] in seen:
            node["flow"] = _flow(seen[node["id"]], node["kind"])
        elif "flow" in node and calls and node["kind"] == "module" and not node["words"]:
            node["flow"] = "not called"
    trace.steps = steps


def _places(nodes, rows):
    """{id of module: the node of its row or of the fold it is in}."""
    place = {}
    for node, row in zip(nodes, rows, strict=True):
        if isinstance(row, Part) and row.same_as is None:
            place[id(row.module)] = node
        elif isinstance(row, Fold):
            for part in row.parts:
                place.setdefault(id(part.module), node)
    return place


def _flow(calls, kind):
    first, last = calls[0], calls[-1]
    words = f"{len(calls)} calls" if kind == "fold" else f"called {len(calls)} times"
    times = f"   {words}" if len(calls) > 1 else ""
    return f"{first.number}. {first.takes} → {last.gives}{times}"


def _step(node, call):
    name = f"{node['path'] or 'the model'} ({node['type']})"
    inner = " by way of its parts" if call.has_inner else ""
    return {
        "ids": [node["id"]],
        "msg": f"Call {call.number}: {name} takes {call.takes} and gives {call.gives}{inner}.",
        "set": {},
    }
