"""Facts and verdicts of a stride picture: the table, the contiguity of each dim, sharing, cache lines."""

from itertools import product

from viz.strides_cells import shown_indices
from viz.strides_geometry import CACHE_LINE
from viz.tensors import human_bytes
from viz.view_rule import contiguous_strides
from viz.wrap import counted

_WALK_LIMIT = 50_000


def fact_rows(geometry):
    """(name, text) pairs."""
    return [
        ["shape", sizes_text(geometry.shape)],
        ["stride", sizes_text(geometry.strides)],
        ["offset", str(geometry.offset)],
        ["dtype", f"{geometry.dtype}, {counted(geometry.itemsize, 'byte')} each"],
        ["storage", f"{counted(geometry.slots, 'slot')}, {human_bytes(geometry.slots * geometry.itemsize)}"],
    ]


def sizes_text(values):
    """``(2, 3)``"""
    return str(tuple(values))


def dim_rows(geometry):
    """Per dim: the stride, the one a contiguous tensor would have, and whether that matters."""
    wanted = contiguous_strides(geometry.shape)
    return [
        {
            "dim": d,
            "size": geometry.shape[d],
            "stride": geometry.strides[d],
            "needed": wanted[d],
            "verdict": _dim_verdict(geometry, d, wanted),
        }
        for d in range(len(geometry.shape))
    ]


def _dim_verdict(geometry, dim, wanted):
    if geometry.numel == 0 or geometry.shape[dim] == 1:
        return "ignored"
    return "ok" if geometry.strides[dim] == wanted[dim] else "differs"


def stride_notes(geometry):
    """Sentences for a ``Geometry``."""
    notes = [_contiguity(geometry), *_shared_note(geometry), *_walk_note(geometry)]
    hidden = geometry.numel - len(shown_indices(geometry.shape))
    if hidden:
        notes.append(f"Showing {geometry.numel - hidden} of {counted(geometry.numel, 'element')}.")
    if geometry.slots == 0 and geometry.numel:
        notes.append("This tensor has no storage (device meta): only its geometry exists.")
    return notes


def _contiguity(geometry):
    dims = dim_rows(geometry)
    wrong = next((d for d in reversed(dims) if d["verdict"] == "differs"), None)
    if wrong:
        return (
            f"is_contiguous: no. Dim {wrong['dim']} has stride {wrong['stride']}, but {wrong['needed']} is "
            f"needed: the product of the sizes after it.{_channels_last(geometry)}"
        )
    if geometry.numel == 0:
        return "is_contiguous: yes. A tensor without elements always is."
    ignored = [str(d["dim"]) for d in dims if d["verdict"] == "ignored"]
    but = f" Size 1 makes the stride of dim {', '.join(ignored)} irrelevant." if ignored else ""
    return f"is_contiguous: yes. Every stride is the product of the sizes after it.{but}"


def _channels_last(geometry):
    """(N, C, H, W) stored as N, H, W, C is contiguous in another memory format."""
    if len(geometry.shape) != 4:
        return ""
    order = (0, 2, 3, 1)
    wanted = contiguous_strides([geometry.shape[d] for d in order])
    pairs = zip(order, wanted, strict=True)
    last = all(geometry.shape[d] == 1 or geometry.strides[d] == step for d, step in pairs)
    return " It is contiguous in channels_last." if last else ""


def _shared_note(geometry):
    dims = [str(d) for d, (n, s) in enumerate(zip(geometry.shape, geometry.strides, strict=True)) if s == 0 and n > 1]
    if not dims or not geometry.numel:
        return []
    return [f"Stride 0 in dim {', '.join(dims)}: moving along it stays in the same slot, so elements share slots."]


def _walk_note(geometry):
    """How often reading the elements in index order changes the cache line."""
    if not 1 < geometry.numel <= _WALK_LIMIT:
        return []
    lines = [geometry.line(geometry.slot(i)) for i in product(*map(range, geometry.shape))]
    changes = sum(a != b for a, b in zip(lines, lines[1:], strict=False))
    if len(set(lines)) == 1:
        return [f"All {geometry.numel} elements lie in one cache line of {CACHE_LINE} bytes."]
    return [
        f"Its {geometry.numel} elements lie in {counted(len(set(lines)), 'cache line')} of {CACHE_LINE} "
        f"bytes; reading them in index order changes the line {counted(changes, 'time')}."
    ]
