"""``viz.broadcast``: how shapes are matched, what is stretched, and what the backward has to sum."""

import sys
from math import prod

from viz.broadcast_rule import (
    FAULT,
    KEPT,
    MISSING,
    STRETCHED,
    WAITING,
    replay,
    sentence_of_fault,
    stretched_strides,
    summed_dims,
)
from viz.names import find_names
from viz.picture import Picture
from viz.tensors import is_tensor
from viz.trace import Trace
from viz.view_rule import contiguous_strides
from viz.wrap import counted

MOST_OPERANDS = 12


def broadcast(*operands):
    """How the shapes of ``operands`` are matched from the right: which dims are stretched, or at fault.

    operands: tensors of teachtorch or PyTorch, or shapes (tuples of ints). Shapes that do not fit are drawn
    too: the picture names the dim at fault, and says what the error says.
    Raises TypeError for anything else. Source: infer_size in aten/src/ATen/ExpandUtils.cpp.
    """
    known = find_names(None, sys._getframe(1))
    rows = [_Operand(each, number, known) for number, each in enumerate(operands)]
    found = replay([row.shape for row in rows])
    trace = Trace("broadcast", f"broadcasting {_listed([row.name for row in rows])}")
    shown = _shown(rows, found)
    trace.nodes = _cells(rows, shown, found) + _result_cells(found)
    trace.notes = _notes(rows, found)
    if len(shown) < len(rows):
        trace.notes.append(f"Showing {len(shown)} of {counted(len(rows), 'operand')}.")
    trace.options = {
        "names": [rows[k].name for k in shown],
        "dims": found.dims,
        "works": found.fault is None,
        "strides": [] if found.fault else [_new_strides(rows[k], found.result) for k in shown],
        "backward": [] if found.fault else [_backward(rows[k], found.result) for k in shown],
        "hint": "Point at a size, or step with the arrow keys: from the last dim to the first.",
    }
    trace.steps = _steps(rows, shown, found)
    return Picture(trace)


def _listed(names):
    """``a, b and c``"""
    shown = names if len(names) <= MOST_OPERANDS else [*names[:3], f"{len(names) - 3} others"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown) or "nothing"


class _Operand:
    """name, shape and strides of a tensor, or of a shape, which is taken as contiguous."""

    def __init__(self, value, number, known):
        if is_tensor(value):
            names = known.of(value)
            self.name = names[0] if names else f"operand {number}"
            self.shape, self.strides = tuple(value.shape), tuple(value.stride())
            return
        if not isinstance(value, (tuple, list)) or not all(isinstance(size, int) for size in value):
            got = type(value).__name__
            raise TypeError(f"viz.broadcast takes tensors and shapes such as (2, 3), got {got}")
        if any(size < 0 for size in value):
            raise ValueError(f"a size is never negative: {tuple(value)}")
        self.name, self.shape = str(tuple(value)), tuple(value)
        self.strides = contiguous_strides(self.shape)


# Cells


def _shown(rows, found):
    """Numbers of the operands to draw: the first ones, and those at fault."""
    kept = set(found.fault[1:] if found.fault else ())
    for number in range(len(rows)):
        if len(kept) < MOST_OPERANDS:
            kept.add(number)
    return sorted(kept)


def _cells(rows, shown, found):
    """One node for each operand and dim of the result: its column counts from the end."""
    return [
        _cell(rows[number], number, line, column, found)
        for line, number in enumerate(shown)
        for column in range(1, found.dims + 1)
    ]


def _cell(row, number, line, column, found):
    own = row.shape[-column] if column <= len(row.shape) else None
    role = found.columns[column - 1][number] if column <= len(found.columns) else WAITING
    into = found.result[-column] if column <= len(found.result) else None
    return {
        "id": f"c{line}_{column}",
        "kind": "size",
        "row": line,
        "column": column,
        "role": role,
        "text": "" if own is None else str(own),
        "into": "" if into is None or role == KEPT else str(into),
        "stride": _stride(row, column, role),
        "tip": _tip(row, column, own, into, role),
    }


def _new_strides(row, result):
    return str(stretched_strides(row.shape, row.strides, result))


def _stride(row, column, role):
    if role in (STRETCHED, MISSING):
        return "stride 0"
    return f"stride {row.strides[-column]}" if column <= len(row.shape) else ""


def _tip(row, column, own, into, role):
    words = {
        KEPT: f"size {own} stays",
        STRETCHED: f"size 1 is stretched to {into}: every index along it shows the same element, stride 0",
        MISSING: f"there is no such dim: it counts as 1, and is stretched to {into} with stride 0",
        FAULT: f"size {own} contradicts another operand, and only 1 can be stretched",
        WAITING: "the rule did not come this far",
    }
    return f"{row.name}, dim {-column}: {words[role]}"


def _result_cells(found):
    return [
        {
            "id": f"r{column}",
            "kind": "result",
            "column": column,
            "text": _result_text(found, column),
            "tip": f"result, dim {-column}",
        }
        for column in range(1, found.dims + 1)
    ]


def _result_text(found, column):
    if column <= len(found.result):
        return str(found.result[-column])
    return "no" if found.fault and found.fault[0] == -column else "?"


# Sentences


def _notes(rows, found):
    if found.fault:
        back, first, second = found.fault
        return [
            f"It fails at dim {back}: {rows[first].name} has {rows[first].shape[back]} there and "
            f"{rows[second].name} has {rows[second].shape[back]}, and neither is 1.",
            f"RuntimeError: {sentence_of_fault(found)}.",
        ]
    return [f"Shape of the result: {found.result}.", _memory(rows, found.result)]


def _memory(rows, result):
    grown = [row.name for row in rows if prod(row.shape) < prod(result)]
    if not grown:
        return "No operand is stretched to more elements."
    return (
        f"Stretching copies nothing: stride 0 shows the elements of {', '.join(grown)} more than once. Only "
        f"the result takes memory: {counted(prod(result), 'element')}."
    )


def _backward(row, result):
    """How the gradient of the result becomes the gradient of this operand."""
    gone, kept = summed_dims(row.shape, result)
    if not gone and not kept:
        return f"{row.name}: the gradient as it is"
    parts = [f"{_dims(gone)} (dropped)"] if gone else []
    parts += [f"{_dims(kept)} (kept as size 1)"] if kept else []
    return f"{row.name}: sum over {' and '.join(parts)}, which leaves shape {row.shape}"


def _dims(dims):
    return f"dim{'s' if len(dims) > 1 else ''} {', '.join(map(str, dims))}"


# Steps


def _steps(rows, shown, found):
    """From the last dim to the first; then what the backward sums."""
    blank = {f"vr{column}": {"text": ""} for column in range(1, found.dims + 1)}
    steps = []
    for column, roles in enumerate(found.columns, 1):
        ids = [f"c{number}_{column}" for number in range(len(shown))] + [f"r{column}"]
        change = dict(blank) if column == 1 else {}
        change[f"vr{column}"] = {"text": _result_text(found, column)}
        steps.append({"ids": ids, "msg": _sentence(rows, found, column, roles), "set": change})
    if not found.fault:
        steps += [
            {"ids": [f"b{line}"], "msg": f"Backward, {_backward(rows[number], found.result)}.", "set": {}}
            for line, number in enumerate(shown)
        ]
    return steps


def _sentence(rows, found, column, roles):
    if FAULT in roles:
        return f"Dim {-column}: {_notes(rows, found)[0].split(': ', 1)[1]} So there is no result."
    pairs = [pair for pair in zip(rows, roles, strict=True) if pair[1] != WAITING]
    words = [f"{row.name} {_word(row, column, role)}" for row, role in pairs[:MOST_OPERANDS]]
    words += [f"and {len(pairs) - MOST_OPERANDS} more"] if len(pairs) > MOST_OPERANDS else []
    return f"Dim {-column}: {', '.join(words)}. The result has {found.result[-column]}."


def _word(row, column, role):
    if role == MISSING:
        return "has no such dim, which counts as 1 and is stretched"
    own = row.shape[-column]
    return f"has {own}" if role == KEPT else "has 1, which is stretched"
