"""Small text pictures for the messages: yours beside expected, the first difference marked."""

from __future__ import annotations


def beside(yours: list[str], expected: list[str], names: list[str] | None = None) -> str:
    """Two columns, one row an item, with an arrow at the first row that differs."""
    rows = _padded(yours, expected, names)
    first = next((row for row, (_, mine, theirs) in enumerate(rows) if mine != theirs), None)
    lines = _columns([("", "yours", "expected"), *rows])
    return "\n".join(
        line + ("   <-- here" if first is not None and row == first + 1 else "")
        for row, line in enumerate(lines)
    )


def ruler(length: int, **marks: list[int]) -> str:
    """The slots of a storage, and under them which slots each named row touches.

    length: number of slots drawn. marks: name of a row -> the slots it touches, in order.
    """
    width = max(len(str(length)) + 1, 4)
    label = max([len("storage"), *map(len, marks)]) + 1
    lines = ["storage".ljust(label) + "".join(str(slot).rjust(width) for slot in range(length))]
    lines += [name.ljust(label) + _marks(slots, length, width) for name, slots in marks.items()]
    return "\n".join(lines)


def strip(values: list) -> str:
    """A row of cells."""
    return "|" + "|".join(f" {value} " for value in values) + "|"


def _marks(slots: list[int], length: int, width: int) -> str:
    inside = "".join(("^" if slot in slots else ".").rjust(width) for slot in range(length))
    outside = [slot for slot in slots if not 0 <= slot < length]
    return inside + (f"   outside: {', '.join(map(str, outside))}" if outside else "")


def _padded(yours: list[str], expected: list[str], names: list[str] | None) -> list[tuple[str, str, str]]:
    count = max(len(yours), len(expected))
    named = names or [f"[{position}]" for position in range(count)]
    fill = [column + ["-"] * (count - len(column)) for column in (named, yours, expected)]
    return list(zip(*fill))


def _columns(rows: list[tuple[str, str, str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return ["   ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
