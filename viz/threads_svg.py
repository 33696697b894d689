"""Threads and elements as SVG: the launch, the arrays, time between barriers, what a warp's addresses cost."""

from viz.svg_parts import MARGIN, document, group, header, legend, rect, tag, text

BLOCKS = ("nonleaf", "leaf", "retained", "saved", "accent", "fold")  # colours of blocks, in turn
FIXED = {"masked": "wait", "read": "band", "untouched": "pale", "work": "op", "idle": "pale", "good": "added",
         "costly": "vanished"}  # fmt: skip
CELL, HIGH, GAP = 32, 22, 26
COLUMN = 104  # of the time between two barriers
MARK = 9  # a piece of memory, or a bank
CSS = (
    ".box{stroke-width:1.2}.word{font-weight:600;fill:var(--ink)}.later{opacity:.15}.shown{opacity:1}"
    ".now>.box{stroke-width:3}.wall{stroke:var(--ended-line);stroke-width:3}"
    ".masked-cross{stroke:var(--wait-line)}"
)
WORDS = (
    ("nonleaf", "a thread", "of block 0, and what it was the last to change; other blocks have other colours"),
    ("wait", "kept out", "a thread that touched no element of device memory: the guard was false"),
    ("band", "3×", "an element that was only read, and how often"),
    ("ended", "barrier", "the red lines: no thread of the block goes on before all have come"),
    (
        "added",
        "pieces",
        "of 32 bytes that the first warp's threads touch at once, or banks of shared memory: all of use",
    ),
    ("vanished", "pieces", "more than would do, or several words in one bank, which come one after another"),
)


def role_of(node):
    if node["kind"] in ("thread", "changed"):
        return BLOCKS[node["block"] % len(BLOCKS)]
    return FIXED[node["kind"]]


def draw(trace):
    """The complete SVG."""
    wide = width_of(trace)
    head, y = header(trace, wide)
    parts = [head]
    for section in (launch, arrays, time, warp):
        drawn, y = section(trace, y)
        parts.append(drawn)
    used = {role_of(node) for node in trace.nodes} | {"ended" for g in trace.groups if g["kind"] == "phase"}
    items = [(rect(0, 1, 26, 13, f"{role} box", 3), word, said) for role, word, said in WORDS if role in used]
    key, below = legend(items, y + 4, wide)
    return document(trace, "".join(parts) + key, wide, below + MARGIN - 6, CSS)


def width_of(trace):
    x = trace.options["threads"][0]
    columns = max([g["columns"] for g in trace.groups if "columns" in g], default=1)
    phases = sum(g["kind"] == "phase" for g in trace.groups)
    needed = max(across(x) * CELL, columns * CELL + 40, 84 + phases * COLUMN, 700)
    return needed + 2 * MARGIN


def across(x):
    """How many threads of a block lie in one line."""
    return min(x, 16)


def title_at(y, words):
    return text(MARGIN, y + 12, words, "note word"), y + 20


def box(node, x, y, wide=CELL, about=""):
    content = rect(x + 1, y + 1, wide - 2, HIGH - 2, "box", 3) + text(x + wide / 2, y + 15, node["label"], "small mid")
    if node["kind"] == "masked":
        content += tag("path", d=f"M{x + 5} {y + HIGH - 5}L{x + wide - 5} {y + 5}", class_="masked-cross")
    if about:
        content = f"<title>{about}</title>" + content
    return group(content, data_id=node["id"], data_card="", class_=role_of(node))


def launch(trace, y):
    """Each block with its threads, blocks side by side as long as there is room."""
    columns = across(trace.options["threads"][0])
    shown = [n for n in trace.nodes if n["kind"] in ("thread", "masked")]
    count = max([n["number"] for n in shown], default=0) + 1
    rows, wide = -(-count // columns), columns * CELL + 18
    per_line = max(1, (width_of(trace) - 2 * MARGIN) // wide)
    drawn, top = title_at(y, "The launch")
    parts, blocks = [drawn], [g for g in trace.groups if g["kind"] == "block"]
    for number, block in enumerate(blocks):
        x, line = MARGIN + number % per_line * wide, top + number // per_line * (rows * HIGH + 24)
        parts.append(group(text(x, line + 11, block["label"], "small muted"), data_id=block["id"]))
        for node in shown:
            if node["block"] == number:
                at = node["number"]
                parts.append(box(node, x + at % columns * CELL, line + 15 + at // columns * HIGH))
    lines = -(-len(blocks) // per_line)
    return "".join(parts), top + lines * (rows * HIGH + 24) + 6


def arrays(trace, y):
    """Every array, those beside one another that fit."""
    drawn, y = title_at(y, "Which thread touched which element")
    parts, x, tallest = [drawn], MARGIN, 0
    for number, array in enumerate(g for g in trace.groups if g["kind"] in ("array", "shared")):
        wide = max(array["columns"] * CELL, 7 * len(array["label"])) + GAP
        if x > MARGIN and x + wide > width_of(trace):
            x, y, tallest = MARGIN, y + tallest, 0
        parts.append(group(text(x, y + 11, array["label"], "small muted"), data_id=array["id"]))
        for node in trace.nodes:
            if node.get("array") == number:
                parts.append(box(node, x + node["column"] * CELL, y + 16 + node["row"] * HIGH, about=node["about"]))
        x, tallest = x + wide, max(tallest, array["rows"] * HIGH + 26)
    return "".join(parts), y + tallest + 6


def time(trace, y):
    """The threads of block 0 downwards, time to the right, barriers as walls."""
    phases = [g for g in trace.groups if g["kind"] == "phase"]
    if not phases:
        return "", y
    drawn, y = title_at(y, "Block 0 in time (r: reads, w: writes); lines are counted from the kernel's def")
    parts, left, top = [drawn], MARGIN + 74, y + 30
    cells = [n for n in trace.nodes if n["kind"] in ("work", "idle")]
    rows = max(n["row"] for n in cells) + 1
    for number, phase in enumerate(phases):
        lines = [
            text(left + number * COLUMN + COLUMN / 2, y + 11 + 12 * k, line, "small mid muted")
            for k, line in enumerate(phase["label"].split("\n"))
        ]
        parts.append(group("".join(lines), data_id=phase["id"]))
        if number:
            x = left + number * COLUMN
            parts.append(tag("line", x1=x, x2=x, y1=top - 2, y2=top + rows * HIGH + 2, class_="wall"))
    parts += [text(MARGIN, top + row * HIGH + 15, f"thread {row}", "small") for row in range(rows)]
    parts += [box(n, left + n["column"] * COLUMN + 5, top + n["row"] * HIGH, COLUMN - 10) for n in cells]
    return "".join(parts), top + rows * HIGH + 16


def warp(trace, y):
    """One line per instruction: its source, what it touches, what that costs."""
    found = [n for n in trace.nodes if n["kind"] in ("good", "costly")]
    if not found:
        return "", y
    drawn, y = title_at(y, "The first warp: the addresses of one instruction, at its worst")
    parts = [drawn]
    for node in found:
        marks = [rect(MARGIN + 8 + k * MARK, y + 5, MARK - 1, 11, "box", 1) for k in positions(node)]
        words = text(MARGIN + 8 + 33 * MARK, y + 8, f"{node['does']}: {node['label']}", "small")
        words += text(MARGIN + 8 + 33 * MARK, y + 21, node["line"], "small muted")
        empty = rect(MARGIN + 8, y + 5, 32 * MARK - 1, 11, "pale box", 1)
        parts.append(empty + group("".join(marks) + words, data_id=node["id"], data_card="", class_=role_of(node)))
        y += 30
    return "".join(parts), y + 6


def positions(node):
    """Where in a strip of 32 the touched pieces or banks lie; pieces are counted from the first one."""
    first = 0 if node["shared"] else node["touched"][0][0]
    return sorted({min(place - first, 31) for place, _ in node["touched"]})
