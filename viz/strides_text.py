"""A stride trace as text: facts, grid, storage ruler, and the replay of the view rule."""

from viz.wrap import counted


def body(trace):
    """Lines of the picture."""
    options = trace.options
    nodes = trace.by_id()
    lines = [f"{name:<8}{value}" for name, value in options["facts"]]
    lines += _dims(options["dims"])
    for panel in options["panels"]:
        lines += ["", *(_panel(panel, nodes) if panel else ["..."])]
    lines += ["(value@slot)", "", *_storage(options["storage"], nodes)]
    return lines + (_view(options) if "view" in options else [])


def _dims(dims):
    if not dims:
        return ["", "A 0-d tensor: one element, at the offset."]
    words = {"ok": "as contiguous", "differs": "contiguous would be {needed}", "ignored": "does not matter"}
    return [
        "",
        *(
            f"dim {d['dim']}   size {d['size']:<5} stride {d['stride']:<5} {words[d['verdict']].format(**d)}"
            for d in dims
        ),
    ]


def _panel(panel, nodes):
    """Values of one grid, each with its slot: ``5.0@9``."""
    title = [f"[{', '.join(map(str, panel['leading']))}, :, :]"] if panel["leading"] else []
    rows = [[_entry(cell, nodes) for cell in row] for row in panel["grid"]]
    return title + (_aligned(rows) or ["(no elements)"])


def _entry(cell, nodes):
    return "..." if cell is None else f"{nodes[cell]['text']}@{nodes[cell]['slot']}"


def _aligned(rows):
    width = max((len(entry) for row in rows for entry in row), default=0)
    return ["  ".join(entry.rjust(width) for entry in row).rstrip() for row in rows if row]


def _storage(storage, nodes):
    """Rows of the ruler: the value in each slot of the tensor, and a dot for a slot outside it."""
    if not storage["slots"]:
        return ["storage: empty"]
    lines = [f"storage, {counted(storage['slots'], 'slot')} (| starts a cache line, · is outside the tensor)"]
    width = max(len(_mark(node)) for node in nodes.values() if node["kind"] == "slot")
    for row in storage["rows"]:
        lines.append("   ..." if row is None else _ruler(row, nodes, width))
    return lines


def _ruler(row, nodes, width):
    slots = [nodes[f"s{number}"] for number in range(row[0], row[1] + 1)]
    parts = [("|" if slot["starts"] else " ") + _mark(slot).rjust(width) for slot in slots]
    return f"{row[0]:>6} {' '.join(parts)}"


def _mark(slot):
    return (slot["text"] or "#") if slot["used"] else "·"


def _view(options):
    view = options["view"]
    lines = ["", f"view{tuple(view['shape'])}"]
    for chunk in view["chunks"]:
        old = " ".join(f"dim {d} ({options['dims'][d]['size']})" for d in chunk["dims"])
        new = " ".join(
            f"new {d} ({view['shape'][d]}){' straddles' if d == view['straddles'] else ''}"
            for d in chunk["new"]
        )
        lines.append(f"  [{old}]  {chunk['numel']} elements, base stride {chunk['base']}  <-  {new or '-'}")
    return [*lines, "  " + view["verdict"]]
