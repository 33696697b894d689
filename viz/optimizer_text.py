"""An optimizer as text."""

from viz.tensors import human_bytes
from viz.wrap import columns, padded


def body(trace):
    """Lines of the picture: a table of bytes, and a grid of launches per implementation."""
    rows = [node for node in trace.nodes if node["kind"] == "parameter"]
    lines, last = [], None
    width = max((columns(row["label"]) for row in rows), default=0)
    shape = max((len(row["what"]) for row in rows), default=0)
    for row in rows:
        if row["group"] != last:
            last = row["group"]
            lines += _group(next(each for each in trace.groups if each["id"] == last))
        lines += _row(row, width, shape)
    for way in trace.groups:
        if way["kind"] == "way":
            lines += ["", *_way(way, trace)]
    return lines


def _group(found):
    lines = [found["label"] + ":"]
    for name, value in found["options"].items():
        if len(lines[-1]) + len(name) + len(value) > 96:
            lines.append("        ")
        lines[-1] += f" {name}={value}"
    return lines


def _row(row, width, shape):
    grad = "no grad" if row["grad"] is None else f"grad {human_bytes(row['grad'])}"
    head = (
        f"  {padded(row['label'], width)}  {row['what']:<{shape}}  {human_bytes(row['sizes']['parameter'])}, {grad}"
    )
    state = [f"{e['name']} {human_bytes(e['bytes']) if not e['text'] else e['text']}" for e in row["state"]]
    line = f"{head}; state: {', '.join(state) or 'none'}"
    if len(line) <= 108:
        return [line]
    return [head + "; state:", *(f"      {each}" for each in state)]


def _way(way, trace):
    head = f"{way['label']}: {way['launches']} launch{'' if way['launches'] == 1 else 'es'}"
    if way["words"] is not None:
        head += f", {way['words']:g} words per element, {human_bytes(way['bytes'])}"
    if way["cuda"] not in (None, way["launches"]):
        head += f"; on a GPU {way['cuda']} launches"
    cells = [node for node in trace.nodes if node["kind"] == "launch" and node["way"] == way["label"]]
    more = " ..." if trace.options["hidden"] else ""
    lines = [head]
    for row in sorted({cell["row"] for cell in cells}):
        lines.append(_line([cell for cell in cells if cell["row"] == row], more))
    return lines


def _line(cells, more):
    """Each launch in brackets: ``[■][■]`` two of one parameter each, ``[■ ■]`` one over both."""
    boxes = "".join("[" + " ".join("■" * (cell["last"] - cell["first"])) + "]" for cell in cells)
    return f"  {cells[0]['label']:<13} {boxes}{more}"
