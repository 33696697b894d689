"""A dispatch trace as text: a table with a row for each kernel that ran, or for each operator."""

from viz.dispatch_svg import words_of
from viz.wrap import columns, padded

_WIDTH = 110
_MOST_LABEL = 40


def body(trace):
    """Lines of the picture; the keys' names are cut where the table would be too wide."""
    keys, form = trace.options["columns"], trace.options["form"]
    table = [["", *keys]]
    for row in trace.nodes:
        label = "  " * min(row["depth"], 10) + row["label"]
        cells = [words_of(row["cells"][key], form) if key in row["cells"] else "" for key in keys]
        table.append([label[:_MOST_LABEL], *cells])
    return _aligned(table) + _places(trace)


def _aligned(table):
    first = max(columns(row[0]) for row in table)
    widths = [max(len(row[c]) for row in table) for c in range(1, len(table[0]))]
    if first + sum(widths) + 2 * len(widths) > _WIDTH:
        room = (_WIDTH - first) // max(1, len(widths)) - 2
        widths = [min(room, width) for width in widths]
    return [
        "  ".join(
            [padded(row[0], first), *(e[:w].ljust(w) for e, w in zip(row[1:], widths, strict=True))]
        ).rstrip()
        for row in table
    ]


def _places(trace):
    """The kernels' places stand in the steps of a path; a table lists none."""
    return [] if trace.options["form"] == "path" or trace.nodes else ["no operators"]
