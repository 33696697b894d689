"""Streams as text: a line of time for each lane, a table of launches, and the races."""

COLUMNS = 76
_MARKS = {"launch": "|", "wait": ".", "kernel": "█", "copy": "▒"}


def body(trace):
    """Lines of the picture."""
    end = max(trace.options["end"], 1e-3)
    lines = [" " * 16 + "0 ms" + f"{end:.1f} ms".rjust(COLUMNS - 4)]
    lines += [_lane(lane, trace, end) for lane in trace.groups]
    lines += [" " * 16 + "| launch   . the host waits   █ kernel   ▒ copy", "", *_table(trace)]
    names = {node["id"]: node["label"] for node in trace.nodes}
    for edge in trace.edges:
        if edge["kind"] == "order":
            lines.append(f"{edge['to']} {names[edge['to']]} waits for {edge['from']} {names[edge['from']]}")
        elif edge["kind"] == "race":
            lines.append(
                f"RACE ({edge['label']}): {edge['from']} {names[edge['from']]} and {edge['to']} "
                f"{names[edge['to']]}"
            )
    return lines


def _lane(lane, trace, end):
    cells = [" "] * COLUMNS
    for node in trace.nodes:
        if node["lane"] == lane["id"]:
            first, last = (int(node[name] / end * (COLUMNS - 1)) for name in ("from", "to"))
            cells[first : last + 1] = _MARKS[node["kind"]] * (last + 1 - first)
    return f"{lane['label']:<16}{''.join(cells)}".rstrip()


def _table(trace):
    rows = trace.options["rows"]
    width = max([len(row["name"]) for row in rows] + [6])
    lines = [f"     {'launch':<{width}}  stream  launched     began     ended   ms"]
    for k, row in enumerate(rows):
        moments = "".join(
            ("?" if row[name] is None else f"{row[name]:.2f}").rjust(10)
            for name in ("launched", "began", "ended")
        )
        lines.append(f"k{k:<3} {row['name']:<{width}}  {row['stream']:>6}{moments}   {row['site']}".rstrip())
    return lines
