"""Buckets as text."""

from textwrap import wrap

COLUMNS = 84


def body(trace):
    """Lines of the picture: the buckets, and a line of time for each lane."""
    lines = []
    for bucket in (group for group in trace.groups if group["kind"] == "bucket"):
        mine = [node for node in trace.nodes if node["kind"] == "parameter" and f"b{node['bucket']}" == bucket["id"]]
        words = wrap(", ".join(f"{node['label']} ({node['size']})" for node in mine), 80) or [""]
        lines.append(f"{bucket['label']:<10}{bucket['size']:>10}  {words[0]}")
        lines += [" " * 22 + more for more in words[1:]]
    lanes = [group for group in trace.groups if group["kind"] == "lane"]
    if lanes:
        end = max(trace.options["end"], 0.01)
        lines += ["", " " * 14 + "0 ms" + f"{end:.1f} ms".rjust(COLUMNS - 4)]
        lines += [_lane(lane, trace, end) for lane in lanes]
        lines.append(" " * 14 + "| a gradient is complete; digits: the bucket that travels; . waiting")
    return lines


def _lane(lane, trace, end):
    cells = [" "] * COLUMNS
    for node in (n for n in trace.nodes if n.get("lane") == lane["id"]):
        first, last = (int(node[name] / end * (COLUMNS - 1)) for name in ("from", "to"))
        mark = {"backward": "-", "ready": "|", "waits": "."}.get(node["kind"]) or node["label"][-1]
        cells[first : last + 1] = mark * (last + 1 - first)
    return f"{lane['label']:<14}{''.join(cells)}".rstrip()
