"""Sentences about memory: sizes, where a block was allocated, and why something does not fit."""

from viz.memory_replay import KIB, MIB, round_size
from viz.wrap import counted

_LIBRARY = ("/teachtorch/", "/site-packages/", "/viz/", "/ipykernel/", "/IPython/")


def bytes_text(nbytes):
    """About ``nbytes``: ``512 B``, ``1.5 KiB``, ``20 MiB``."""
    if nbytes < KIB:
        return f"{nbytes} B"
    unit, size = next(pair for pair in (("GiB", KIB * MIB), ("MiB", MIB), ("KiB", KIB)) if nbytes >= pair[1])
    return f"{nbytes / size:.2f}".rstrip("0").rstrip(".") + f" {unit}"


def exact_text(nbytes):
    """Exactly ``nbytes``: ``1 300 B``, ``1.5 KiB``, ``2 048.5 KiB``, ``20 MiB``."""
    if nbytes % MIB == 0 and nbytes:
        return f"{nbytes // MIB} MiB"
    if nbytes % 512 == 0 and nbytes >= KIB:
        return f"{nbytes / KIB:,.1f}".removesuffix(".0").replace(",", " ") + " KiB"
    return f"{nbytes:,} B".replace(",", " ")


def counted_free(number):
    return counted(number, "free block")


def place_text(frames):
    """`train.py:12 in forward`: the innermost line that is not the library's; "" without a stack."""
    own = [frame for frame in frames if not any(part in frame["filename"] for part in _LIBRARY)]
    if not frames:
        return ""
    frame = (own or frames)[0]
    if "/ipykernel_" in frame["filename"] or frame["filename"].startswith("<ipython"):
        return f"line {frame['line']} of a notebook cell"
    return f"{frame['filename'].rsplit('/', 1)[-1]}:{frame['line']} in {frame['name']}"


def block_tip(piece):
    """What a live or awaited block says when it is pointed at."""
    rounding = f"asked for {exact_text(piece.requested)}, got {exact_text(piece.size)}"
    place = place_text(piece.frames)
    waits = "; freed, waiting for another stream" if piece.state == "wait" else ""
    return rounding + (f"; allocated at {place}" if place else "") + waits + "."


def oom_sentence(state, event):
    """Why a request does not fit, though memory may be free."""
    size, stream = round_size(event["size"]), event["stream"]
    is_small = size <= MIB
    wanted = 2 * MIB if is_small else 20 * MIB if size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
    mine = state.free_blocks(stream, is_small)
    everywhere = [gap for row in state.rows for gap in row.gaps()]
    text = (
        f"Out of memory: {exact_text(size)} in one piece, so a segment of {bytes_text(wanted)}. "
        f"The device has {bytes_text(event.get('device_free', 0))} left."
    )
    if event.get("device_free", 0) >= wanted:
        text += " That would do, so a cap must be set (set_per_process_memory_fraction)."
    if not everywhere:
        return text + " The allocator has nothing cached."
    text += (
        f" Cached and free are {bytes_text(sum(gap[1] for gap in everywhere))} in "
        f"{counted(len(everywhere), 'piece')}"
    )
    if mine:
        text += f"; the largest that this request may use has {bytes_text(mine[-1][0])}"
    return (
        text
        + ". Their segments hold live blocks, so none can go back to the device: empty_cache() would "
        "free nothing."
    )
