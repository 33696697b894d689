"""Who holds which state, as text."""

from viz.wrap import columns, padded
from viz.zero_svg import rows_of


def body(trace):
    """Lines of the picture: a row for each parameter, a column for each rank."""
    rows = rows_of(trace)
    ranks = [group["label"] for group in trace.groups if group["kind"] == "column"]
    wide = max(columns(row["label"]) for row in rows) + 2
    cells = {(node["row"], node["column"]): node["label"] or "-" for node in trace.nodes}
    lines = [" " * wide + "".join(name.rjust(11) for name in ranks)]
    for n, row in enumerate(rows):
        lines.append(padded(row["label"], wide) + "".join(cells[n, k].rjust(11) for k in range(len(ranks))))
    return [line[:110] for line in lines]
