"""The collectives of all ranks as text: a line for each collective, a mark for each rank."""

_MARKS = {"work": "work", "shadow": "shadow", "end": "end"}


def body(trace):
    """Lines of the picture."""
    ranks = [group for group in trace.groups if group["kind"] == "row"]
    columns = [group for group in trace.groups if group["kind"] == "column"]
    cells = {(node["row"], node["column"]): _MARKS[node["kind"]] for node in trace.nodes}
    lines = [" " * 29 + "".join(group["label"].rjust(8) for group in ranks)]
    for k, column in enumerate(columns):
        name, size = column["label"].split("\n")
        marks = "".join(cells.get((rank, k), "-").rjust(8) for rank in range(len(ranks)))
        lines.append(f"{k:>4} {name:<13}{size:>10} {marks}")
    return [line[:110] for line in lines]
