"""Segments as text: one line of a page map each."""

from viz.memory_words import bytes_text


def body(trace):
    """A line per segment, and what the marks mean."""
    rows = {row["id"]: row for row in trace.groups}
    lines = []
    for name, pages in trace.options["map"]:
        row = rows[name]
        pool = row["pool"] + (" exp" if row["expandable"] else "")
        lines.append(f"{pool:<9} s{row['stream']:<3} {bytes_text(row['size']):>9} [{pages}]")
    if not lines:
        return ["(no segments)"]
    return [*lines, "# in use, 1-9 tenths of the page in use, ~ waiting for another stream, . free"]
