"""Grids of elements as SVG: panels of a tensor side by side, with the indices as headings."""

from viz.svg_parts import group, number, text

CELL_HEIGHT = 26


def grids(panels, cell, element, left, right):
    """Panels from left to right, wrapped between x = left and x = right; returns (svg, width, height).

    panels: dicts with leading, rows, columns and grid, None for a gap. cell: width of an element in pixels.
    element: function (id, x, y) that draws one element.
    """
    x, y, tallest, widest, parts = left, 0, 0, 0, []
    for panel in panels:
        content, w, h = _panel(panel, cell, element) if panel else (text(4, 40, "..."), 30, 50)
        if x > left and x + w > right:
            x, y, tallest = left, y + tallest + 10, 0
        parts.append(group(content, transform=f"translate({number(x)} {number(y)})"))
        x, tallest, widest = x + w + 18, max(tallest, h), max(widest, x + w - left)
    return "".join(parts), widest, y + tallest


def _panel(panel, cell, element):
    """One grid with its headings; returns (svg, width, height)."""
    extra = 7 * max(0, max((len(str(row)) for row in panel["rows"]), default=0) - 4)  # for long row numbers
    left, top = 30 + extra, 32 if panel["leading"] else 16
    parts = [text(left, 12, f"[{', '.join(map(str, panel['leading']))}, :, :]", "fact")] if panel["leading"] else []
    parts += [_heading(column, left + (k + 0.5) * cell, top - 4) for k, column in enumerate(panel["columns"])]
    for r, row in enumerate(panel["grid"]):
        y = top + r * CELL_HEIGHT
        parts.append(_heading(panel["rows"][r], left - 14 - extra / 2, y + 17))
        parts += [
            _gap(left + k * cell, y, cell) if entry is None else element(entry, left + k * cell, y)
            for k, entry in enumerate(row)
        ]
    if not any(panel["grid"]):
        parts.append(text(left, top + 14, "no elements", "note"))
    rows = max(1, len(panel["grid"]))
    return "".join(parts), left + max(2, len(panel["columns"])) * cell, top + rows * CELL_HEIGHT


def _heading(position, x, y):
    return text(x, y, "..." if position is None else position, "small muted mid")


def _gap(x, y, cell):
    return text(x + cell / 2, y + 17, "...", "mid muted")
