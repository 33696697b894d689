"""Who holds which state, as SVG: a row for each parameter, a column for each rank."""

from viz.cells_svg import Grid

ROLES = {"state": "saved", "nothing": "pale", "sum": "fold"}
WORDS = {
    "state": "the optimizer's state of this parameter is kept here, and here the step is made",
    "nothing": "no state: the new weights come by broadcast from their owner",
    "sum": "bytes of state on this rank",
}


def draw(trace):
    """The complete SVG."""
    rows, columns = rows_of(trace), [group for group in trace.groups if group["kind"] == "column"]
    left = 20 + 7 * max(len(row["label"]) for row in rows)
    return Grid(trace, rows, columns, left, 84, 8).draw(ROLES, WORDS)


def rows_of(trace):
    return [group for group in trace.groups if group["kind"] == "row"]
