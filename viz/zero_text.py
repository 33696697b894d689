"""Who holds which state, as text."""

from viz.zero_svg import rows_of


def body(trace):
    """Lines of the picture: a row for each parameter, a column for each rank."""
    rows = rows_of(trace)
    columns = [group["label"] for group in trace.groups if group["kind"] == "column"]
    wide = max(len(row["label"]) for row in rows) + 2
    cells = {(node["row"], node["column"]): node["label"] or "-" for node in trace.nodes}
    lines = [" " * wide + "".join(name.rjust(11) for name in columns)]
    for n, row in enumerate(rows):
        lines.append(row["label"].ljust(wide) + "".join(cells[n, k].rjust(11) for k in range(len(columns))))
    return [line[:110] for line in lines]
