"""The answer of ``viz.why`` as SVG: the path on the left, the seven reasons on the right."""

from viz.svg_parts import MARGIN, document, group, header, number, paragraph, rect, tag, text
from viz.theme import mono_width
from viz.why_text import MEANINGS, SIGNS

_WIDTH = 800
_BOX = 290
_GAP = 34
_REASONS = MARGIN + _BOX + 36
_CSS = """
.box{stroke-width:1.2}.fix{fill:var(--leaf-line);font-weight:600}.word{font-weight:600;fill:var(--ink)}
.link{stroke:var(--op-line);stroke-width:1.6;fill:none}.tip{fill:var(--op-line)}
.beyond .link{stroke-dasharray:3 4;opacity:.7}.beyond .tip{opacity:.7}
.broken .link{stroke:var(--ended-line);stroke-dasharray:4 4}.broken .tip{fill:var(--ended-line)}
.broken .cross{stroke:var(--ended-line);stroke-width:2.6}.bad{fill:var(--ended-line);font-weight:700}
.subject>.box{stroke-width:2.4}.ghost>.box{stroke-dasharray:5 4;opacity:.75}
.sign{font-size:14px}.cause .sign{fill:var(--ended-line);font-weight:700}
.possible .sign{fill:var(--saved-line);font-weight:700}
.no text{opacity:.72}
""".replace("\n", "")
_ROLES = {"loss": "nonleaf", "op": "op", "more": "fold", "cut": "ended", "ghost": "pale", "subject": "ended"}


def draw(trace):
    """The complete SVG."""
    head, y = header(trace, _WIDTH)
    fix, y = _fix(trace.options["fix"], y)
    chain, left = _chain(trace, y)
    checks, right = _checks(trace.options["checks"], y)
    return document(trace, head + fix + chain + checks, _WIDTH, max(left, right) + MARGIN, _CSS)


def _fix(lines, y):
    if not lines:
        return "", y
    parts = [text(MARGIN, y + 14, "fix", "note word")]
    parts += [text(MARGIN + 34, y + 14 + 17 * k, line, "fix") for k, line in enumerate(lines)]
    return "".join(parts), y + 17 * len(lines) + 14


def _chain(trace, y):
    parts, into = [], {edge["to"]: edge for edge in trace.edges}
    filled = not trace.options["checks"]
    for node in trace.nodes:
        if node["id"] in into:
            parts.append(_link(into[node["id"]], y))
            y += _GAP
        drawn, height = _box(node, y, filled)
        parts.append(drawn)
        y += height
    return "".join(parts), y


def _box(node, y, filled):
    role = "leaf" if filled else _ROLES[node["kind"]]
    lines = [line for line in (node["what"], node["note"]) if line]
    one_line = len(lines) == 2 and mono_width("  ".join(lines), 11) < _BOX - 16
    lines = ["  ".join(lines)] if one_line else lines
    height = 24 + 16 * len(lines)
    css = "bad" if node["kind"] == "subject" and not filled else ""
    words = text(8, 16, node["label"], "name")
    words += "".join(text(8, 32 + 16 * k, line, css if k == len(lines) - 1 else "") for k, line in enumerate(lines))
    content = rect(0, 0, _BOX, height, "box", 6) + words
    place = f"translate({MARGIN} {number(y)})"
    return group(content, data_id=node["id"], data_card="", class_=f"{node['kind']} {role}", transform=place), height


def _link(edge, y):
    x, end = MARGIN + 40, y + _GAP
    line = tag("path", d=f"M{x},{number(y)}V{number(end - 8)}", class_="link")
    tip = tag("path", d=f"M{x},{number(end)}l-5,-9h10Z", class_="tip")
    middle = y + _GAP / 2 - 2
    cross = tag("path", d=f"M{x - 7},{number(middle - 7)}l14,14m0,-14l-14,14", class_="cross")
    parts = line + tip + (cross if edge["state"] == "broken" else "")
    if edge["label"]:
        parts += text(x + 18, middle + 4, edge["label"], "bad")
    return group(parts, data_id=edge["id"], class_=edge["state"])


def _checks(checks, y):
    if not checks:
        return "", y
    parts = [text(_REASONS, y + 12, "the seven reasons", "note word")]
    y += 32
    for check in checks:
        row, last = _check(check, y)
        parts.append(row)
        y = last + 23
    used = {check["verdict"] for check in checks}
    key = "   ".join(f"{SIGNS[v]} {m}" for v, m in MEANINGS.items() if v in used)
    return "".join([*parts, text(_REASONS, y + 4, key, "note")]), y + 10


def _check(check, y):
    sign = text(_REASONS + 2, y, SIGNS[check["verdict"]], "sign word")
    title = text(_REASONS + 20, y, check["title"], "note word")
    why, last = paragraph(_REASONS + 20, y + 16, check["why"], _WIDTH - _REASONS - 20 - MARGIN)
    return group(sign + title + why, data_id=check["id"], class_=check["verdict"]), last
