"""The cards of a graph picture: rows of cells with sizes in pixels. DOT and SVG draw the same cards."""

from dataclasses import dataclass, field

from viz.saved import folded_text, saved_text
from viz.strips import CELLS
from viz.tensors import human_bytes
from viz.theme import mono_width
from viz.wrap import wrapped

_PAD = 8
_LINE = 16
_HEAD = 22
_PORT = 15
_PATTERN_LINES = 4
_VALUE_WIDTH = 53.0


@dataclass
class Cell:
    """One piece of text. width: at least this; grow: takes the spare width; heat: -1..1 colours a value;
    live: drawn even when empty, because a step fills it."""

    text: str
    width: float = 0
    role: str = ""
    port: str = ""
    id: str = ""
    css: str = ""
    align: str = "start"
    grow: bool = False
    heat: float | None = None
    live: bool = False
    x: float = 0


@dataclass
class Row:
    cells: list
    height: float = _LINE
    y: float = 0
    id: str = ""


@dataclass
class Card:
    """A box of rows. role: its colour. stacked: drawn as a pile."""

    id: str
    role: str
    rows: list = field(default_factory=list)
    stacked: bool = False
    width: float = 0
    height: float = 0


def cards(trace):
    """The cards of a graph trace, with their sizes and the places of their cells."""
    return [_placed(_MAKERS[node["kind"]](node, trace.options["direction"])) for node in trace.nodes]


# Cells


def _cell(text, size=11, css="", **rest):
    return Cell(text, mono_width(text, size) + 2 * _PAD, css=css, **rest)


def _name(text):
    return _cell(text, 13, "name", grow=True)


def _small(text, **rest):
    return _cell(text, 10, "small muted", **rest)


def _badge(text, role):
    return Cell(text, mono_width(text, 10) + 2 * _PAD, role=role, css="small", align="middle")


def _line(text, css=""):
    return Row([_cell(text, css=css, grow=True)])


def _port(prefix, number, text=None, role="pale"):
    text = str(number) if text is None else text
    return Cell(
        text,
        max(22, mono_width(text, 10) + 12),
        role=role,
        port=f"{prefix}{number}",
        css="small",
        align="middle",
        grow=True,
    )


def _strip(label, strip, cell_id=""):
    """A label and the first values of a tensor, each cell as hot as its value is large."""
    cells = [_cell(label.ljust(len(label) + 3) if cell_id else label, grow=True, id=cell_id)]
    for value in strip["cells"]:
        cells.append(
            Cell(
                value["text"],
                mono_width(value["text"], 10) + 8,
                css="small",
                align="middle",
                heat=value["heat"],
            )
        )
    cells.append(_small(f"+{strip['more']}") if strip["more"] else Cell("", 4))
    return Row(cells, 18)


def _live_strip(label, owner, strip=None, width=0.0):
    """A label and a fixed number of cells that the steps of a run fill. owner: the label's id."""
    first = Cell(label, max(width, mono_width(label, 11) + 2 * _PAD), grow=True, id=owner, live=True)
    cells = strip["cells"] if strip else []
    shown = [(c["text"], c["heat"]) for c in cells[:CELLS]]
    more = strip["more"] + len(cells) - len(shown) if strip else 0
    values = [
        Cell(text, _VALUE_WIDTH, css="small", align="middle", heat=hot, id=f"{owner}.{k}", live=True)
        for k, (text, hot) in enumerate(shown + [("", 0.0)] * (CELLS - len(shown)))
    ]
    rest = Cell(f"+{more}" if more else "", 38, css="small muted", align="end", id=f"{owner}.more", live=True)
    return Row([first, *values, rest], 18)


def _buffer_rows(node):
    """The input buffers: where the gradients for one slot add up before the node runs."""
    buffers = node.get("buffers", ())
    return [_buffer_row(node, buffer) for buffer in buffers]


def _buffer_row(node, buffer):
    label = "buffer" if len(node["buffers"]) == 1 else f"buffer {buffer['slot']}"
    row = _live_strip("empty", buffer["id"], width=mono_width("sum of 00", 10) + 2 * _PAD)
    row.cells[0].css = "small"
    row.cells.insert(0, _small(label))
    return row


def _foot():
    """Room below the last line of a card without slots at its bottom."""
    return Row([Cell("")], 4)


def _grad_row(node, owner, name="", live=False):
    if live:
        label = f"{name}.grad None" if node["grad"] is None else f"{name}.grad"
        return _live_strip(
            label, f"{owner}.grad", node["grad"], mono_width(f"{name}.grad None", 11) + 2 * _PAD
        )
    if node["grad"] is None:
        return Row([_cell(f"{name}.grad None", id=f"{owner}.grad", grow=True)], 18)
    return _strip(f"{name}.grad", node["grad"], f"{owner}.grad")


# Cards


def _root(node, direction):
    retained = node["word"] == "retains grad"
    role = "retained" if retained else "nonleaf"
    rows = [
        Row([_name(node["label"]), _badge(node["word"], role)], _HEAD),
        _strip(node["what"], node["value"]),
    ]
    if retained:
        rows.append(_grad_row(node, node["id"], live="buffers" in node))
    if direction != "forward":
        rows.append(_line(f"backward starts here with {node['seed']}", "small muted"))
    return Card(node["id"], role, [*rows, _foot()])


def _ended(node, direction):
    rows = [Row([_name(node["label"]), _badge("no graph", "ended")], _HEAD), _line(node["what"])]
    return Card(node["id"], "ended", [*rows, *map(_line, node["lines"]), _foot()])


def _leaf(node, direction):
    port = Row([_port("i", 0)], _PORT)
    rows = [Row([_name(node["label"]), _badge("leaf", "leaf")], _HEAD)]
    rows += [_line(f"also {name}", "small muted") for name in node["others"][:2]]
    live = "buffers" in node
    rows += [_line(node["what"]), *_buffer_rows(node), _grad_row(node, node["id"], live=live)]
    rows.append(_status("AccumulateGrad", node, direction))
    return Card(node["id"], "leaf", [*rows, port] if direction == "forward" else [port, *rows, _foot()])


def _status(text, node, direction):
    """A small last line: what runs, and how many gradients it waits for."""
    cells = [_small(text, grow=True)]
    if direction != "forward":
        longest = mono_width("waits for 00", 10) + 2 * _PAD
        role, align = ("wait", "middle") if "buffers" in node else ("", "end")
        css = "small" if role else "small muted"
        cells.append(
            Cell(_waits(node["waits"]), longest, role, css=css, align=align, id=f"{node['id']}.waits")
        )
    return Row(cells)


def _waits(count):
    return f"waits for {count}"


def _op(node, direction):
    ins = [Row(_balanced([_in_cell(port) for port in node["ins"]], [p["used"] for p in node["ins"]]), _PORT)]
    outs = [Row(_balanced(_out_cells(node), [port["to"] for port in node["outs"]]), _PORT)]
    title, other = (
        (node["label"], node["forward"]) if direction == "backward" else (node["forward"], node["label"])
    )
    head = [
        Row([_name(title), _small(f"#{node['created']}", align="end")], _HEAD),
        _status(other, node, direction),
    ]
    middle = head + _buffer_rows(node) + _retained_rows(node) + _saved_rows(node)
    rows = outs + middle + ins if direction == "forward" else ins + middle + outs
    return Card(node["id"], "op", [row for row in rows if row.cells])


def _retained_rows(node):
    """.grad of named forward outputs that retain it."""
    kept = [port for port in node["ins"] if port["word"] == "retains grad"]
    live = "buffers" in node
    return [_grad_row(port, f"{node['id']}.{port['nr']}", port["names"][0], live) for port in kept]


def _balanced(cells, used):
    """The cells, with room beside them so that an only used slot is in the middle: chains run straight."""
    if len(cells) < 2 or len(cells) != len(used) or sum(map(bool, used)) != 1:
        return cells
    only = [bool(each) for each in used].index(True)
    left, right = cells[:only], cells[only + 1 :]
    return [*_room_for(right[len(left) :]), *cells, *_room_for(left[len(right) :])]


def _room_for(cells):
    return [Cell("", cell.width, grow=True) for cell in cells]


def _in_cell(port):
    if not port["names"]:
        return _port("i", port["nr"], None if port["used"] else f"{port['nr']} unused")
    text = f"{port['nr']}  {port['names'][0]}  {port['word']}"
    return _port("i", port["nr"], text, "retained" if port["word"] == "retains grad" else "nonleaf")


def _out_cells(node):
    cells = [_port("o", port["nr"], None if port["to"] else f"{port['nr']} –") for port in node["outs"]]
    if node["outs_more"]:
        cells.append(_port("o", "more", f"+{node['outs_more']}"))
    return cells


def _saved_rows(node):
    rows = [Row([_saved_cell(item)], _LINE) for item in node["saved"]]
    for row in rows:
        row.id = f"{node['id']}.saved"
    if node["saved_more"]:
        rows.append(_line(f"and {node['saved_more']} more saved tensors", "small muted"))
    return rows


def _saved_cell(item):
    role = {"kept": "saved", "freed": "pale", "changed": "ended", "packed": "pale"}[item["state"]]
    css = "small" if item["state"] in ("kept", "packed") else "small gone"
    return _cell(f"saved {saved_text(item)}", 10, css, role=role, grow=True)


def _fold(node, direction):
    rows = [Row([_name(node["label"]), _badge("folded", "fold")], _HEAD)]
    if node["pattern"] != ["AccumulateGrad"]:
        rows += [_line(text) for text in _fold_lines(node)]
        leaves = f", {node['leaves']} of them leaves" if node["leaves"] else ""
        rows.append(_line(f"{node['count']} nodes{leaves}", "small muted"))
    if folded_text(node):
        rows.append(Row([_cell(folded_text(node), 10, "small", role="saved", grow=True)]))
    return Card(node["id"], "fold", [*rows, _foot()], stacked=True)


def _fold_lines(node):
    if node["pattern"]:
        lines = wrapped(" → ".join(node["pattern"]), 44)
    else:
        lines = [f"{count} x {name}" for name, count in node["kinds"].items()]
    return lines if len(lines) <= _PATTERN_LINES else [*lines[: _PATTERN_LINES - 1], "..."]


def _diff(node, direction):
    """A node of two graphs compared."""
    role = {"same": {"leaf": "leaf", "root": "nonleaf"}.get(node["was"], "op")}.get(
        node["mark"], node["mark"]
    )
    head = [_name(node["label"])] + ([_badge(node["mark"], role)] if node["mark"] != "same" else [])
    rows = [Row(head, _HEAD)]
    rows += [_line(node["what"], "small muted")] if node["what"] else []
    rows += (
        [Row([_cell(_saved_change(*node["saved"]), 10, "small", role="saved", grow=True)])]
        if any(node["saved"])
        else []
    )
    rows += [_change_row(note) for note in node["notes"]]
    return Card(node["id"], f"{role} again" if node["again"] else role, [*rows, _foot()])


def _change_row(note):
    role = "vanished" if note.endswith("in place") else "pale"
    return Row([_cell(note, 10, "small gone", role=role, grow=True)])


def _saved_change(old, new):
    return f"saves {human_bytes(new)}" if old == new else f"saves {human_bytes(old)} → {human_bytes(new)}"


def _call(node, direction):
    """A call of an fx graph."""
    from viz.fx_svg import role_of

    role = role_of(node)
    badge = node["mark"] if node["mark"] != "same" else node["op"].removeprefix("call_")
    rows = [Row([_name(node["label"]), _badge(badge, role)], _HEAD)]
    rows += [_line(text) for text in (node["what"],) if text]
    rows += [_line(text, "small muted") for text in (node["shape"],) if text]
    rows += [Row([_cell(node["note"], 10, "small gone", role="vanished", grow=True)])] if node["note"] else []
    return Card(node["id"], role, [*rows, _foot()])


def _calls(node, direction):
    """Several calls of an fx graph in one card."""
    rows = [Row([_name(node["label"]), _badge("folded", "fold")], _HEAD), *map(_line, node["lines"])]
    return Card(node["id"], "fold", [*rows, _foot()], stacked=True)


_MAKERS = {
    "call": _call, "calls": _calls, "diff": _diff, "root": _root, "ended": _ended, "leaf": _leaf, "op": _op,
    "fold": _fold,
}


# Places


def _placed(card):
    """Give the card its size, and every row and cell its place."""
    card.width = float(round(max(sum(cell.width for cell in row.cells) for row in card.rows)))
    y = 0
    for row in card.rows:
        row.y = y
        y += row.height
        _spread(row, card.width)
    card.height = float(y)
    return card


def _spread(row, width):
    spare = width - sum(cell.width for cell in row.cells)
    growing = [cell for cell in row.cells if cell.grow] or row.cells
    for cell in growing:
        cell.width += spare / len(growing)
    x = 0
    for cell in row.cells:
        cell.x = x
        x += cell.width
