"""The view rule in a stride picture: old dims in chunks, the new dims under the chunk they tile."""

from viz.svg_parts import MARGIN, group, number, paragraph, rect, text
from viz.wrap import counted

_DIM = 92
_GAP = 22
_HEIGHT = 40
CSS = (
    ".chunk{fill:none;stroke:var(--op-line);stroke-width:1.4;stroke-dasharray:5 3}"
    ".chunk-now>.chunk{stroke:var(--accent-line)}.verdict{font-weight:600;fill:var(--ink)}"
    ".stop{fill:var(--ended-line)}.now>.chunk{stroke:var(--accent-line);stroke-width:2.4}"
    ".now>.verdict{fill:var(--accent-line)}"
)


def view_block(trace, width):
    """(svg, height) of the block."""
    view, dims = trace.options["view"], trace.options["dims"]
    parts = [text(MARGIN, 12, f"view{tuple(view['shape'])}: which old dims lie in memory like one dim?", "note fact")]
    x = MARGIN + 70
    if view["chunks"]:
        parts += [text(MARGIN, 56, "old dims", "note"), text(MARGIN, 138, "new dims", "note")]
    for k, chunk in enumerate(view["chunks"]):
        content, wide = _chunk(k, chunk, dims, view)
        parts.append(group(content, transform=f"translate({number(x)} 22)"))
        x += wide + _GAP
    bottom = 186 if view["chunks"] else 32
    verdict, last = paragraph(MARGIN, bottom, view["verdict"], (width - 2 * MARGIN) * 0.92, "note verdict")
    return "".join(parts) + group(verdict, data_id="verdict"), last + 6


def _chunk(number_, chunk, dims, view):
    columns = max(len(chunk["dims"]), len(chunk["new"]), 1)
    width = columns * _DIM + 12
    frame = rect(0, 0, width, _HEIGHT + 42, "chunk", 8)
    words = text(8, _HEIGHT + 22, counted(chunk["numel"], "element"), "small muted")
    words += text(8, _HEIGHT + 35, f"base stride {chunk['base']}", "small muted")
    old = [_old(dims[d], 6 + k * _DIM) for k, d in enumerate(chunk["dims"])]
    new = [_new(d, view, 6 + k * _DIM) for k, d in enumerate(chunk["new"])]
    missing = text(8, _HEIGHT + 74, "not reached", "small muted") if not new and view["strides"] is None else ""
    return group(frame + words, data_id=f"k{number_}") + "".join(old + new) + missing, width


def _box(item, x, y, css, first, second):
    content = rect(x, y, _DIM - 6, _HEIGHT, "box", 5)
    content += text(x + 8, y + 16, first, "fact") + text(x + 8, y + 32, second, "small")
    return group(content, data_id=item, class_=css)


def _old(dim, x):
    return _box(f"d{dim['dim']}", x, 6, "op", f"dim {dim['dim']}: {dim['size']}", f"stride {dim['stride']}")


def _new(dim, view, x):
    """A new dim with its stride; a red bar where it would straddle."""
    size, y = view["shape"][dim], _HEIGHT + 54
    if dim == view["straddles"]:
        bar = rect(x - 8, y - 4, 5, _HEIGHT + 8, "stop", 2)
        return bar + _box(f"v{dim}", x, y, "ended", f"new {dim}: {size}", "straddles")
    second = f"stride {view['strides'][dim]}" if view["strides"] else "fits"
    return _box(f"v{dim}", x, y, "leaf", f"new {dim}: {size}", second)
