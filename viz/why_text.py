"""The answer of ``viz.why`` as text: fix, path, and the seven reasons."""

from viz.wrap import wrapped

SIGNS = {"cause": "✗", "possible": "?", "no": "·"}
MEANINGS = {"cause": "the cause", "possible": "possible: cannot be told afterwards", "no": "ruled out"}
_WHY_WIDTH = 62


def body(trace):
    """Lines of the picture."""
    return [*_fix(trace.options["fix"]), *_path(trace), *_checks(trace.options["checks"])]


def _fix(lines):
    return ["Fix", *("    " + line for line in lines), ""] if lines else []


def _path(trace):
    lines = ["From the loss to the tensor"] if len(trace.nodes) > 1 else []
    into = {edge["to"]: edge for edge in trace.edges}
    for node in trace.nodes:
        lines += _link(into.get(node["id"]))
        lines.append("    " + "  ".join(filter(None, (_label(node), node["what"], node["note"]))))
    return lines


def _label(node):
    return f"▶ {node['label']}" if node["kind"] == "subject" else node["label"]


def _link(edge):
    if edge is None:
        return []
    return [{"whole": "    ↓", "beyond": "    ┊", "broken": f"    ✗  {edge['label']}"}[edge["state"]]]


def _checks(checks):
    if not checks:
        return []
    width = max(len(check["title"]) for check in checks)
    lines = ["", "The seven reasons"]
    for check in checks:
        first, *rest = wrapped(check["why"], _WHY_WIDTH)
        lines.append(f"  {SIGNS[check['verdict']]} {check['title']:<{width}}  {first}")
        lines += [" " * (width + 6) + line for line in rest]
    used = {check["verdict"] for check in checks}
    return [*lines, "  " + "   ".join(f"{SIGNS[v]} {m}" for v, m in MEANINGS.items() if v in used)]
