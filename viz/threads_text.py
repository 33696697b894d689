"""Threads and elements as text."""


def body(trace):
    """Lines: the launch, the arrays with who changed what, the time between barriers, a warp's accesses."""
    return [*launch(trace), *arrays(trace), *time(trace), *warp(trace)]


def launch(trace):
    lines = []
    for number, group in enumerate(g for g in trace.groups if g["kind"] == "block"):
        cells = [n for n in trace.nodes if n["kind"] in ("thread", "masked") and n["block"] == number]
        shown = " ".join(n["label"] if n["kind"] == "thread" else "-" for n in cells)
        lines.append(f"{group['label']:14} threads {shown}"[:110])
    return lines


def arrays(trace):
    lines = []
    for number, group in enumerate(g for g in trace.groups if g["kind"] in ("array", "shared")):
        cells = {(n["row"], n["column"]): n for n in trace.nodes if n.get("array") == number}
        lines += ["", group["label"]]
        for row in range(group["rows"]):
            shown = [word_of(cells[row, c]) for c in range(group["columns"]) if (row, c) in cells]
            lines.append(("  " + " ".join(word.rjust(6) for word in shown))[:110])
    return lines


def word_of(node):
    if node["kind"] == "changed":
        return f"b{node['block']}t{node['label']}"
    return node["label"] or "."


def time(trace):
    phases = [g for g in trace.groups if g["kind"] == "phase"]
    cells = {(n["row"], n["column"]): n["label"] for n in trace.nodes if n["kind"] in ("work", "idle")}
    if not phases:
        return []
    lines = ["", "block 0, between barriers (r: reads, w: writes)"]
    for row in range(1 + max(row for row, _ in cells)):
        shown = " | ".join((cells[row, column] or "-").center(8) for column in range(len(phases)))
        lines.append(f"  thread {row:2}  {shown}"[:110])
    return lines


def warp(trace):
    found = [n for n in trace.nodes if n["kind"] in ("good", "costly")]
    return (
        ["", "the first warp", *[f"  {n['does']:14} {n['label']}   {n['line']}"[:110] for n in found]]
        if found
        else []
    )
