"""The hooks of a Trainer's run as text."""

MARKS = {"section": "▸", "fold": "…", "step": "■", "module": "●", "callback": "◆", "default": "○", "empty": "·"}


def body(trace):
    """One line per hook, indented by what it is called in; then what the marks mean."""
    legend = "■ the work itself   ● the module defines it   ◆ only callbacks do   ○ a default   · nothing to do"
    return [*(_line(node) for node in trace.nodes), "", legend]


def _line(node):
    start = f"{'  ' * node['depth']}{MARKS[node['kind']]} {node['label']}"
    who = ", ".join(node["who"]) if node["who"] not in (["module"], ["default"]) else ""
    return f"{start}   {who}".rstrip()[:108]
