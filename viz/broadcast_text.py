"""A broadcasting trace as text: a table with a column for each dim, aligned at the last one."""

from viz.wrap import columns, padded


def body(trace):
    """Lines of the picture."""
    dims, names = trace.options["dims"], trace.options["names"]
    places = range(dims, 0, -1)
    table = [["", *(f"dim {-c}" for c in places)]]
    for number, name in enumerate(names):
        table.append([name, *(_size(_node(trace, f"c{number}_{c}")) for c in places)])
    table.append(["result", *(_node(trace, f"r{c}")["text"] for c in places)])
    first = max(map(columns, (row[0] for row in table)))
    width = max((len(entry) for row in table for entry in row[1:]), default=0)
    lines = ["  ".join([padded(row[0], first), *(e.rjust(width) for e in row[1:])]).rstrip() for row in table]
    if not trace.options["works"]:
        return lines
    strides = zip(names, trace.options["strides"], strict=True)
    return [
        *lines,
        "",
        *(f"strides of {name} then: {words}" for name, words in strides),
        "",
        "backward",
        *(f"  {words}" for words in trace.options["backward"]),
    ]


def _node(trace, id):
    return trace.by_id()[id]


def _size(node):
    """``1 -> 4``; a dim that is not there is ``(1) -> 4``; ``3 !`` is at fault."""
    if node["role"] == "fault":
        return f"{node['text']} !"
    if node["role"] == "missing":
        return f"(1) -> {node['into']}"
    return f"{node['text']} -> {node['into']}" if node["into"] else node["text"]
