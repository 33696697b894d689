"""``viz.zero``: which rank keeps the optimizer's state of which parameter, and how many bytes that saves."""

from viz.picture import Picture
from viz.tensors import human_bytes
from viz.trace import Trace

SHOWN = 24


def zero(optimizer, module=None, *, parameters=SHOWN):
    """Draw who owns what of a ZeroRedundancyOptimizer. All ranks call this: each tells how many bytes it holds.

    optimizer: teachtorch's or PyTorch's ZeroRedundancyOptimizer, after a step (before it there is no state).
    module: names the parameters. parameters: how many to show. TypeError for another object.
    """
    if not hasattr(optimizer, "consolidate_state_dict"):
        raise TypeError(f"viz.zero takes a ZeroRedundancyOptimizer, got {type(optimizer).__name__}")
    return Picture(zero_trace(_facts(optimizer, module), parameters))


def _facts(optimizer, module):
    """For each parameter its name, elements, owner, and the bytes of its state on its owner."""
    params = [p for group in optimizer.param_groups for p in group["params"]]
    names = {id(p): name for name, p in module.named_parameters()} if module is not None else {}
    owner = {id(p): rank for rank in range(optimizer.world_size) for p in _owned(optimizer, rank)}
    held = {n: _state_bytes(optimizer.optim.state.get(p, {})) for n, p in enumerate(params)}
    of_all = _gathered(optimizer, held)
    rows = [
        {
            "name": names.get(id(p), f"parameter {n}"),
            "shape": list(p.shape),
            "numel": p.numel(),
            "owner": owner[id(p)],
            "bytes": of_all[owner[id(p)]][n],
        }
        for n, p in enumerate(params)
    ]
    return {"rows": rows, "ranks": optimizer.world_size, "kind": type(optimizer.optim).__name__}


def _owned(optimizer, rank):
    if hasattr(optimizer, "parameters_of"):
        return optimizer.parameters_of(rank)
    return [p for group in optimizer._partition_parameters()[rank] for p in group["params"]]


def _state_bytes(state):
    return sum(t.numel() * t.element_size() for t in state.values() if hasattr(t, "element_size"))


def _gathered(optimizer, held):
    if optimizer.world_size == 1:
        return [held]
    if type(optimizer).__module__.startswith("teachtorch"):
        from teachtorch.distributed import all_gather_object
    else:
        from torch.distributed import all_gather_object
    of_all = [None] * optimizer.world_size
    all_gather_object(of_all, held, optimizer.process_group)
    return of_all


def zero_trace(facts, shown=SHOWN):
    """The trace of the facts of all ranks."""
    rows, ranks = facts["rows"], facts["ranks"]
    total = sum(row["bytes"] for row in rows)
    trace = Trace("zero", f"{facts['kind']}'s state of {len(rows)} parameters, divided among {ranks} ranks")
    kept = rows[:shown]
    trace.groups = [
        {"id": f"p{n}", "kind": "row", "label": f"{row['name']} {row['shape']}"} for n, row in enumerate(kept)
    ]
    trace.groups.append({"id": "sum", "kind": "row", "label": "together"})
    trace.groups += [{"id": f"k{rank}", "kind": "column", "label": f"rank {rank}"} for rank in range(ranks)]
    trace.nodes = [_cell(n, row, rank) for n, row in enumerate(kept) for rank in range(ranks)]
    sums = [sum(row["bytes"] for row in rows if row["owner"] == rank) for rank in range(ranks)]
    trace.nodes += [
        {
            "id": f"s{rank}",
            "kind": "sum",
            "row": len(kept),
            "column": rank,
            "label": human_bytes(held),
            "about": f"rank {rank}",
        }
        for rank, held in enumerate(sums)
    ]
    trace.notes = [
        f"A plain {facts['kind']} would keep {human_bytes(total)} on every rank; here a rank keeps at most "
        f"{human_bytes(max(sums))}.",
        "The largest goes first, each to the rank that has least so far.",
    ]
    if len(rows) > shown:
        trace.notes.append(f"Showing {shown} of {len(rows)} parameters; the sums are of all.")
    trace.options = {"sums": sums, "hint": "Step through the partition."}
    trace.steps = _steps(kept, ranks)
    return trace


def _cell(n, row, rank):
    mine = row["owner"] == rank
    return {
        "id": f"c{n}r{rank}",
        "kind": "state" if mine else "nothing",
        "row": n,
        "column": rank,
        "label": human_bytes(row["bytes"]) if mine else "",
        "about": row["name"],
    }


def _steps(rows, ranks):
    """The rule at work: parameters from the largest down, each with the totals at its moment."""
    totals, steps = [0] * ranks, []
    order = sorted(range(len(rows)), key=lambda n: -rows[n]["numel"])
    for n in order:
        owner = rows[n]["owner"]
        before = ", ".join(map(str, totals))
        totals[owner] += rows[n]["numel"]
        said = f"{rows[n]['name']}: {rows[n]['numel']} elements. The ranks have {before}: to rank {owner}."
        cell = f"c{n}r{owner}"
        steps.append({"ids": [cell], "set": {cell: {"state": "shown"}}, "msg": said})
    hidden = {f"c{n}r{rows[n]['owner']}": {"state": "later"} for n in order}
    return [{"ids": [], "msg": "Nothing is given yet.", "set": hidden}, *steps]
