"""``viz.graph``: from tensors to the trace of their autograd graph."""

import sys

from viz.graph_model import PORT_LIMIT, GraphModel, edge_id, forward_name
from viz.graph_notes import graph_notes
from viz.graph_steps import backward_steps, forward_steps
from viz.module_frames import module_frames
from viz.names import find_names
from viz.picture import Picture
from viz.saved import is_number
from viz.tensors import describe, dtype_name, element_count, require_tensor, value_strip
from viz.trace import Trace

DIRECTIONS = ("backward", "forward", "both")
MAX_NODES = 50
_SAVED_LIMIT = 6


def graph(t, *, direction="backward", names=None, saved=True, max_nodes=MAX_NODES, modules=None):
    """The autograd graph behind ``t``: nodes, numbered slots, leaves, saved tensors, and the engine's order.

    t: a tensor of teachtorch or PyTorch, or a list of tensors (several roots).
    direction: "backward" draws the way gradients go, "forward" the way values went, "both" both.
    names: None takes names from the calling frame (variables, containers, module parameters); False gives no
        names; a dict {name: tensor} or a module gives those names only.
    saved: read and show saved tensors. PyTorch shows what ``saved_tensors_hooks`` packed without unpacking.
    max_nodes: a graph with more nodes is folded, and the picture says how many nodes it shows.
    modules: an ``nn.Module``: frames then join the nodes that use the parameters of one of its modules.
    Raises TypeError for something that is not a tensor, ValueError for an unknown direction.
    """
    roots = roots_of(t, "viz.graph")
    if direction not in DIRECTIONS:
        raise ValueError(f"direction must be one of {', '.join(DIRECTIONS)}; got {direction!r}")
    if not isinstance(max_nodes, int) or max_nodes < 4:
        raise ValueError(f"max_nodes must be an integer of at least 4; got {max_nodes!r}")
    model = GraphModel(roots, find_names(names, sys._getframe(1)), saved, max_nodes)
    trace = graph_trace(model, direction)
    if modules is not None:
        trace.groups = module_frames(model, modules)
        trace.notes.append(
            ("Frames are modules, told by their parameters; an operation without any stands in the frame around it.")
        )
    return Picture(trace)


def roots_of(t, function):
    """The tensors in ``t``, a tensor or a list of tensors."""
    roots = list(t) if isinstance(t, (list, tuple)) else [t]
    if not roots:
        raise ValueError(f"{function} was given an empty list: pass at least one tensor")
    return [require_tensor(root, function) for root in roots]


def graph_trace(model, direction):
    """The trace of a ``GraphModel``."""
    trace = Trace(
        "graph",
        f"{direction if direction != 'both' else 'forward and backward'} graph of "
        + ", ".join(_root_label(model, k) for k in range(len(model.roots))),
    )
    trace.nodes = _root_nodes(model) + _graph_nodes(model)
    trace.edges = _root_edges(model) + _graph_edges(model)
    trace.notes = graph_notes(model, direction)
    if direction != "backward":
        trace.steps += forward_steps(model)
    if direction != "forward":
        trace.steps += backward_steps(model)
    hint = "Step with the buttons or the arrow keys, or point at a node." if trace.steps else ""
    predict = direction == "backward" and len(trace.steps) > 2
    saved_bytes = sum(model.storages.values())
    trace.options = {"direction": direction, "predict": predict, "hint": hint, "saved_bytes": saved_bytes}
    return trace


# Roots


def _root_label(model, number):
    known = model.names.of(model.roots[number])
    if known:
        return known[0]
    return "a tensor" if len(model.roots) == 1 else f"tensor {number}"


def _root_nodes(model):
    """A card per root. A root that is a leaf already has its leaf card."""
    nodes = []
    for number, tensor in enumerate(model.roots):
        if not tensor.requires_grad:
            nodes.append(_ended_node(model, number, tensor))
        elif tensor.grad_fn is not None:
            nodes.append(_root_node(model, number, tensor))
    return nodes


def _root_node(model, number, tensor):
    retained = bool(getattr(tensor, "retains_grad", False))
    return {
        "id": f"r{number}",
        "kind": "root",
        "label": _root_label(model, number),
        "what": describe(tensor.shape, tensor.dtype),
        "word": "retains grad" if retained else "non-leaf",
        "grad": _grad(tensor) if retained else None,
        "value": value_strip(tensor),
        "seed": "1" if element_count(tensor.shape) == 1 else f"gradient={list(tensor.shape)}",
    }


def _ended_node(model, number, tensor):
    return {
        "id": f"r{number}",
        "kind": "ended",
        "label": _root_label(model, number),
        "what": describe(tensor.shape, tensor.dtype),
        "lines": _why_no_graph(tensor),
    }


def _why_no_graph(tensor):
    lines = [
        "grad_fn is None and requires_grad is False: no graph starts here,",
        "so backward() from this tensor raises a RuntimeError.",
    ]
    if not (tensor.dtype.is_floating_point or getattr(tensor.dtype, "is_complex", False)):
        return [
            *lines,
            f"Cause: {dtype_name(tensor.dtype)} cannot carry a gradient;",
            "only floating point and complex dtypes can.",
        ]
    return [
        *lines,
        "One of these ended it:",
        "- nothing it was computed from has requires_grad=True",
        "- it was computed under no_grad() or inference_mode()",
        "- detach(), .data, .item() or NumPy cut the graph",
    ]


def _grad(tensor):
    return None if tensor.grad is None else value_strip(tensor.grad)


def _root_edges(model):
    edges, entries = [], iter(model.graph.roots)
    for number, tensor in enumerate(model.roots):
        if not tensor.requires_grad:
            continue
        node, input_nr = next(entries)
        if tensor.grad_fn is not None:
            port = None if model.folded(node) else input_nr
            edges.append(
                {"id": f"s{number}", "from": f"r{number}", "out": None, "to": model.card[node], "in": port, "times": 1}
            )
    return edges


# Nodes of the graph


def _graph_nodes(model):
    nodes = {}
    for node in model.order:
        card = model.card[node]
        if card not in nodes:
            nodes[card] = {"id": card, **_maker(model, node)(model, node), "tip": _tip(model, node)}
    return list(nodes.values())


def _tip(model, node):
    """One sentence for the pointer."""
    label = model.label(node)
    if model.folded(node):
        return "Many nodes on one card; a larger max_nodes unfolds them."
    if model.graph.is_leaf(node):
        return f"{label} is a leaf: AccumulateGrad adds the gradients that reach it into .grad."
    sends = [f"gradient {k} to {_target(model, *edge)}" for k, edge in enumerate(model.graph.edges[node]) if edge]
    what = " and ".join(filter(None, (_metadata_text(model.graph.nodes[node], k) for k in range(2))))
    shown = ", ".join(sends[:4]) + (", ..." if len(sends) > 4 else "")
    return f"{label} takes the gradient of {what or 'its result'} and sends {shown or 'nothing on'}."


def _target(model, node, input_nr):
    return model.label(node) if model.graph.is_leaf(node) else f"input {input_nr} of {model.label(node)}"


def _maker(model, node):
    if model.folded(node):
        return _fold_node
    return _leaf_node if model.graph.is_leaf(node) else _op_node


def _leaf_node(model, node):
    variable, known = model.graph.nodes[node].variable, model.leaf_names(node)
    return {
        "kind": "leaf",
        "label": known[0] if known else "unnamed",
        "others": known[1:],
        "what": describe(variable.shape, variable.dtype),
        "word": "leaf",
        "grad": _grad(variable),
        "waits": model.arrivals[node],
    }


def _op_node(model, node):
    name, items = model.graph.name(node), model.saved.get(node, [])
    edges = model.graph.edges[node]
    return {
        "kind": "op",
        "label": name,
        "forward": forward_name(name),
        "created": model.created[node],
        "waits": model.arrivals[node],
        "ins": [_in_port(model, node, k) for k in range(min(_inputcounted(model, node), PORT_LIMIT))],
        "outs": [_out_port(model, k, edge) for k, edge in enumerate(edges[:PORT_LIMIT])],
        "outs_more": max(0, len(edges) - PORT_LIMIT),
        "saved": items[:_SAVED_LIMIT],
        "saved_more": max(0, len(items) - _SAVED_LIMIT),
    }


def _inputcounted(model, node):
    """Backward inputs of a node = forward outputs of its operation."""
    metadata = getattr(model.graph.nodes[node], "_input_metadata", None) or ()
    return max(len(metadata), 1, *(nr + 1 for nr in model.inputs_used[node]))


def _in_port(model, node, slot):
    """Backward input ``slot``, which is the gradient of forward output ``slot``."""
    known = [] if _has_card(model, node, slot) else model.output_names(node, slot)
    retained = bool(known) and model.retains_grad(node, slot)
    return {
        "nr": slot,
        "what": _metadata_text(model.graph.nodes[node], slot),
        "names": known,
        "word": "retains grad" if retained else "non-leaf",
        "grad": _grad(model.output_tensor(node, slot)) if retained else None,
        "used": slot in model.inputs_used[node],
    }


def _has_card(model, node, slot):
    """A root has a card of its own, so the slot need not name it."""
    tensor = model.output_tensor(node, slot)
    return any(tensor is root for root in model.roots)


def _metadata_text(node, slot):
    metadata = getattr(node, "_input_metadata", None) or ()
    entry = metadata[slot] if slot < len(metadata) else None
    shape, dtype = getattr(entry, "shape", None), getattr(entry, "dtype", None)
    return "" if shape is None or dtype is None else describe(shape, dtype)


def _out_port(model, slot, edge):
    """Where gradient ``slot`` of the node goes; None where the forward input needs no gradient."""
    if edge is None:
        return {"nr": slot, "to": None, "in": None}
    target, input_nr = edge
    return {"nr": slot, "to": model.card[target], "in": None if model.folded(target) else input_nr}


def _fold_node(model, node):
    fold = model.folds[model.fold_of[node]]
    items = [item for member in fold.members for item in model.saved.get(member, ())]
    return {
        "kind": "fold",
        "label": _fold_label(fold),
        "pattern": list(fold.pattern),
        "times": fold.times,
        "count": len(fold.members),
        "leaves": sum(model.graph.is_leaf(member) for member in fold.members),
        "kinds": dict(fold.kinds.most_common()),
        "saved_count": sum(item["state"] == "kept" and not is_number(item) for item in items),
        "saved_numbers": sum(item["state"] == "kept" and is_number(item) for item in items),
        "saved_bytes": sum(item["bytes"] for item in items),
    }


def _fold_label(fold):
    if not fold.pattern:
        return "a mixture, folded"
    return f"{fold.times} x repeated" if fold.pattern != ("AccumulateGrad",) else f"{fold.times} more leaves"


# Edges of the graph


def _graph_edges(model):
    """One edge per used slot; edges of folded nodes merge and are counted."""
    merged = {}
    for node in model.order:
        for slot, edge in enumerate(model.graph.edges[node]):
            if edge and model.card[node] != model.card[edge[0]]:
                ends = model.edge_ends(node, slot)
                merged[ends] = merged.get(ends, 0) + 1
    return [_edge(ends, times) for ends, times in merged.items()]


def _edge(ends, times):
    source, out, target, into = ends
    return {"id": edge_id(ends), "from": source, "out": out, "to": target, "in": into, "times": times}
