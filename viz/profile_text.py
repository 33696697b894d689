"""A profile as text: the flame graph as an indented tree with bars, and the table."""

from viz.profile_svg import shortened
from viz.wrap import padded

_WIDTH, _NAME = 24, 52
_SHOWN = 30


def body(trace):
    """Lines of the picture."""
    return [*_lanes(trace), "", *_tree(trace), "", *_table(trace)]


def _lanes(trace):
    """How busy each lane is: the share of the time in which it has a bar."""
    end, lines = max(trace.options["end"], 1e-9), []
    for lane in trace.groups:
        cells = [" "] * 84
        for node in trace.nodes:
            if node.get("lane") == lane["id"]:
                first, last = (min(83, int(node[name] / end * 83)) for name in ("from", "to"))
                cells[first : last + 1] = "█" * (last + 1 - first)
        lines.append(f"{lane['label']:<12}{''.join(cells)}".rstrip())
    return [f"{'':<12}0 ms{f'{end:.2f} ms':>80}", *lines]


def _tree(trace):
    frames = [node for node in trace.nodes if node["part"] == "frame"]
    host = max(trace.options["host"], 1e-9)
    lines = [f"{'under which caller':<{_NAME}}{'calls':>7}{'ms':>10}{'':>3}share of the host's time"]
    for node in frames[:_SHOWN]:
        time = node["to"] - node["from"]
        name = "  " * node["depth"] + shortened(node["label"], _NAME - 2 * node["depth"] - 1)
        bar = "█" * round(time / host * _WIDTH)
        lines.append(f"{padded(name, _NAME)}{node['count']:>7}{time:>10.3f}   {bar}".rstrip())
    hidden = len(frames) - _SHOWN
    return lines + ([f"... {hidden} more frames"] if hidden > 0 else [])


def _table(trace):
    lines = [f"{'in which operator':<{_NAME}}{'calls':>7}{'self ms':>10}{'self %':>9}{'total ms':>11}{'mean ms':>10}"]
    for row in trace.options["rows"]:
        share = "" if row["share"] is None else f"{row['share']:.1%}"
        lines.append(
            f"{padded(shortened(row['name'], _NAME - 1), _NAME)}{row['count']:>7}{row['self']:>10.3f}{share:>9}"
            f"{row['total']:>11.3f}{row['total'] / row['count']:>10.4f}"
        )
    hidden = trace.options["hidden_rows"]
    return lines + ([f"... {hidden} more names"] if hidden else [])
