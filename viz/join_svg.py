"""The collectives of all ranks as SVG: a row for each rank, a column for each collective."""

from viz.cells_svg import Grid

ROLES = {"work": "nonleaf", "shadow": "accent", "end": "retained"}
WORDS = {
    "work": "a rank that has inputs",
    "shadow": "a rank without inputs, in a join hook or in the count of those at work: it contributes zeros",
    "end": "all have joined: the last one's weights go to everyone",
}


def draw(trace):
    """The complete SVG."""
    rows = [group for group in trace.groups if group["kind"] == "row"]
    columns = [group for group in trace.groups if group["kind"] == "column"]
    return Grid(trace, rows, columns, 64, 76, 12).draw(ROLES, WORDS)
