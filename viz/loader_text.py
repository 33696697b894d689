"""A DataLoader's run as text."""

COLUMNS = 76
_MARKS = {"start": "s", "wait": ".", "use": None, "fetch": None, "ready": None}


def body(trace):
    """Lines of the picture: a line of time for each lane, and a table of moments."""
    end = max(trace.options["end"], 0.1)
    lines = [" " * 15 + "0 ms" + f"{end:.0f} ms".rjust(COLUMNS - 4)]
    lines += [_lane(lane, trace, end) for lane in _ordered(trace.groups)]
    lines.append(" " * 15 + "digits: the last one of the batch's number" + _marks(trace))
    return [*lines, "", *_table(trace)]


def _marks(trace):
    used = {node["kind"] for node in trace.nodes}
    return "".join(
        words
        for kind, words in (("wait", "; . the loop waits"), ("start", "; s workers start"))
        if kind in used
    )


def _ordered(lanes):
    order = {"loop": 0, "ready": 1, "worker": 2}
    return sorted(lanes, key=lambda lane: order[lane["kind"]])


def _lane(lane, trace, end):
    cells = [" "] * COLUMNS
    for node in trace.nodes:
        if node["lane"] == lane["id"]:
            first, last = (int(node[name] / end * (COLUMNS - 1)) for name in ("from", "to"))
            mark = _MARKS[node["kind"]] or node["label"][-1]
            cells[first : last + 1] = mark * (last + 1 - first)
    label = lane["label"] or "ready"
    return f"{label:<15}{''.join(cells)}".rstrip()


def _table(trace):
    names = ("dealt", "began", "ended", "asked", "given")
    lines = ["batch  worker" + "".join(name.rjust(9) for name in names) + "   ms"]
    for row in trace.options["table"]:
        worker = "-" if row["worker"] is None else row["worker"]
        moments = "".join(("?" if row[name] is None else f"{row[name]:.1f}").rjust(9) for name in names)
        lines.append(f"{row['task']:>5}  {worker:>6}{moments}")
    return lines
