"""``viz.dispatch``: which kernels one call goes through, and ``viz.dispatch.table``: which kernels there are."""

import sys

from viz.dispatch_record import library_called, run
from viz.names import find_names
from viz.picture import Picture
from viz.tensors import describe, is_tensor
from viz.trace import Trace
from viz.wrap import counted

MOST_ROWS = 60
HOW = {
    "own": "a kernel of its own",
    "CompositeExplicit": "one kernel for every backend (CompositeExplicit)",
    "CompositeImplicit": "a composition (CompositeImplicit): it calls other operators, which start at the top again",
    "made": "a kernel made from the declaration",
    "fallback": "the key's fallback, one for all operators",
}
TORCH_NOTE = (
    "PyTorch shows Python only the operators that arrive under the key Python, below autograd: compositions have "
    "fallen apart by then. Which key served a call, and which kernel, its public functions do not tell."
)


def dispatch(op, *args, **kwargs):
    """The path of one call ``op(*args, **kwargs)``: the keys, the kernel chosen at each, what falls apart into what.

    op: a function of teachtorch or PyTorch, a module, or anything that calls operators; it is run once, for real.
    An error of the call is drawn too, with the way it came. For PyTorch the operators are shown that a
    ``TorchDispatchMode`` sees. Raises TypeError if ``op`` cannot be called.
    """
    if not callable(op):
        raise TypeError(f"viz.dispatch takes a function and its arguments, got {type(op).__name__}")
    names = find_names(None, sys._getframe(1))
    given = [*_tensors(args), *_tensors(kwargs.values())]
    found = run(op, args, kwargs, library_called(op, given))
    trace = Trace("dispatch", f"dispatch of {_called(op)}")
    shown = found.hops[:MOST_ROWS]
    trace.nodes = _context(found, given, names) + [_row(hop, k) for k, hop in enumerate(shown)]
    trace.notes = _notes(found, shown)
    hint = "Step with the arrow keys: one kernel a step."
    trace.options = {"form": "path", "columns": _columns(trace.nodes), "hint": hint}
    trace.steps = [{"ids": [f"h{k}"], "msg": _sentence(hop, found), "set": {}} for k, hop in enumerate(shown)]
    return Picture(trace)


def _called(op):
    return getattr(op, "__name__", None) or type(op).__name__


def _tensors(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif is_tensor(value):
            yield value


# The rows of a path


def _context(found, given, names):
    """A row for each tensor given, and for what the thread adds and takes out; PyTorch tells neither."""
    if found.library != "teachtorch":
        return []
    from teachtorch.dispatch.keys import keys_of, names_in

    rows, seen = [], set()
    for t in given:
        if id(t) not in seen:
            seen.add(id(t))
            known = names.of(t)
            label = f"{known[0] if known else 'a tensor'}: {describe(t.shape, t.dtype)}"
            rows.append(_context_row(f"a{len(rows)}", label, dict.fromkeys(names_in(keys_of(t)), "carried")))
    rows = rows[:8]
    rows.append(_context_row("included", "the thread adds", dict.fromkeys(found.included, "carried")))
    taken = "the thread takes out" if found.excluded else "the thread takes out nothing"
    rows.append(_context_row("excluded", taken, dict.fromkeys(found.excluded, "out")))
    return rows


def _context_row(id, label, cells):
    return {"id": id, "kind": "context", "depth": 0, "label": label, "cells": cells, "where": ""}


def _row(hop, k):
    cells = {key: "waits" for key in hop.keys}
    cells.update(dict.fromkeys(hop.skipped, "skipped"))
    cells[hop.key] = "composite" if hop.how == "CompositeImplicit" else "runs"
    return {
        "id": f"h{k}",
        "kind": "hop",
        "depth": hop.depth,
        "label": hop.op if not hop.goes_on else f"↓ {hop.op}",
        "cells": cells,
        "where": hop.where,
    }


def _columns(rows):
    """The keys that occur, highest first."""
    present = {key for row in rows for key in row["cells"]}
    if present <= {"Python"}:
        return sorted(present)
    from teachtorch.dispatch.keys import NAMES

    return [name for name in reversed(NAMES) if name in present]


def _notes(found, shown):
    notes = []
    if found.error is not None:
        notes.append(f"It fails: {type(found.error).__name__}: {str(found.error).splitlines()[0]}")
    if found.library == "torch":
        notes.append(TORCH_NOTE)
    calls = sum(not hop.goes_on for hop in found.hops)
    ran = f"{counted(len(found.hops), 'kernel')} of {counted(calls, 'operator call')}"
    if found.library == "torch":
        ran = counted(calls, "operator")
    notes.append(f"Seen: {ran}." if found.hops else "No operator was called.")
    if len(shown) < len(found.hops):
        notes.append(f"Showing {len(shown)} of {len(found.hops)}.")
    return notes


def _sentence(hop, found):
    if found.library == "torch":
        return f"{hop.op} arrives under the key Python."
    keys = ", ".join(hop.keys)
    start = (
        f"The kernel hands {hop.op} on, below its own key: {{{keys}}}."
        if hop.goes_on
        else f"{hop.op} is called with the keys {{{keys}}}."
    )
    skips = f" Skipped, for lack of a kernel (fallthrough): {', '.join(hop.skipped)}." if hop.skipped else ""
    where = f" ({hop.where})" if hop.where else ""
    return f"{start}{skips} {hop.key} runs {HOW.get(hop.how, hop.how)}{where}."


# The table


def table(*operators, keys=None):
    """Which kernels there are: a row for each of the operators named, a column for each key.

    operators: names as in ``teachtorch.ops``, such as "add"; all of them if none is named. keys: names of keys; by
    default those that matter. Raises KeyError for a name that is not there. Reads ``teachtorch.ops``; PyTorch
    prints its own with ``torch._C._dispatch_dump_table``, which is no public function.
    """
    from teachtorch import ops
    from teachtorch.dispatch.keys import NAMES

    names = operators or [row.name for row in ops]
    columns = [name for name in reversed(NAMES) if name in (keys or _KEYS)]
    trace = Trace("dispatch", f"kernels of {counted(len(names), 'operator')}")
    for k, name in enumerate(names[:MOST_ROWS]):
        trace.nodes.append(_operator(f"o{k}", ops[name], columns))
    if len(names) > MOST_ROWS:
        trace.notes.append(
            f"Showing {MOST_ROWS} of {counted(len(names), 'operator')}: name the ones you want."
        )
    hint = "Point at a cell: where the kernel's code stands."
    trace.options = {"form": "table", "columns": columns, "hint": hint}
    trace.steps = []
    return Picture(trace)


_KEYS = ("Autograd", "ADInplaceOrView", "Python", "BackendSelect", "SparseCPU", "Meta", "Sim", "CPU")


def _operator(id, row, columns):
    served = {key: row.served(key) for key in columns}
    cells = {key: _ROLE[found.how] for key, found in served.items()}
    tips = {key: found.where for key, found in served.items()}
    return {
        "id": id,
        "kind": "operator",
        "depth": 0,
        "label": row.name,
        "cells": cells,
        "where": row.kind,
        "tips": tips,
    }


_ROLE = {
    "own": "runs",
    "CompositeExplicit": "explicit",
    "CompositeImplicit": "composite",
    "made": "made",
    "fallback": "fallback",
    "fallthrough": "skipped",
    "missing": "missing",
}

dispatch.table = table
