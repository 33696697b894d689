"""A trace of picked elements as text: its grids, one below the other."""


def body(trace):
    """Lines of the picture. ``5*2``: this element is picked twice. ``(5)``: it is not picked."""
    nodes, lines = trace.by_id(), []
    for block in [block for row in trace.options["rows"] for block in row]:
        lines += ["", f"{block['name']}, shape {tuple(block['shape'])}"]
        for panel in block["panels"]:
            lines += _panel(panel, nodes) if panel else ["..."]
    return [*lines[1:], "", *_key(trace)]


def _panel(panel, nodes):
    title = [f"[{', '.join(map(str, panel['leading']))}, :, :]"] if panel["leading"] else []
    heads = ["..." if column is None else f"[{column}]" for column in panel["columns"]]
    names = ["..." if row is None else f"[{row}]" for row in panel["rows"]]
    rows = [[_entry(cell, nodes) for cell in row] for row in panel["grid"]]
    if not any(rows):
        return [*title, "(no elements)"]
    table = [["", *heads], *([name, *row] for name, row in zip(names, rows, strict=True))]
    width = max(len(entry) for row in table for entry in row)
    return title + [" ".join(entry.rjust(width) for entry in row).rstrip() for row in table]


def _entry(cell, nodes):
    if cell is None:
        return "..."
    node = nodes[cell]
    value = node["text"] or "#"
    if node["colour"] is None:
        return f"({value})"
    return f"{value}*{node['shared']}" if node["shared"] else value


def _key(trace):
    lines = []
    if any(node["colour"] is None for node in trace.nodes):
        lines.append(f"(5): {trace.options['pale']}")
    if any(node["shared"] for node in trace.nodes):
        lines.append(f"5*2: {trace.options['shared']}")
    return lines
