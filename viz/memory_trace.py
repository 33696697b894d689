"""``viz.memory``: the segments and blocks of a caching allocator, to scale, and how they came to be."""

import io
import pickle
from pathlib import Path

from viz.memory_replay import final_state
from viz.memory_steps import Replay
from viz.memory_words import block_tip, bytes_text, oom_sentence
from viz.picture import Picture
from viz.trace import Trace
from viz.wrap import counted

SHOWN_STEPS = 120
SHOWN_ROWS = 24
CROWDED = 40  # blocks of one segment above which narrow neighbours are drawn as one


def memory(source=None, *, device=0, steps=SHOWN_STEPS, rows=SHOWN_ROWS):
    """Draw the memory of a device: segments, blocks, what is free, and the recorded decisions one by one.

    The history has to be recorded before (``_record_memory_history()``); without it the picture stands still.

    source: a snapshot (the dict of ``torch.cuda.memory._snapshot()`` or teachtorch's), the path of a file
    that
        ``_dump_snapshot`` wrote, an allocator of teachtorch, or None for the accelerator that is there.
        device: the index of the device in it. steps, rows: how many actions, and how many segments, are shown
        at most.
    Raises TypeError for another source, ValueError for a file that holds no snapshot.
    """
    return Picture(memory_trace(_snapshot(source), device, steps, rows))


def _snapshot(source):
    if source is None:
        from teachtorch.memory.caching import allocators

        source = next(iter(allocators()), None)
        if source is None:
            return {"segments": [], "device_traces": []}
    if isinstance(source, (str, Path)):
        source = read(source)
    elif hasattr(source, "snapshot"):
        source = source.snapshot()
    if not isinstance(source, dict):
        raise TypeError(f"viz.memory takes a snapshot, its file or an allocator, got {type(source).__name__}")
    if "segments" not in source:
        raise ValueError("this is no memory snapshot: it has no 'segments'")
    return source


class _PlainUnpickler(pickle.Unpickler):
    """Snapshots are made of dictionaries, lists, strings and numbers; a file that wants more is refused."""

    def find_class(self, module, name):
        raise ValueError(f"a memory snapshot holds no {module}.{name}: this file is not opened")


def read(path):
    """The snapshot in a file of ``_dump_snapshot``."""
    try:
        return _PlainUnpickler(io.BytesIO(Path(path).read_bytes())).load()
    except (pickle.UnpicklingError, EOFError, KeyError, IndexError) as error:
        raise ValueError(f"{path} holds no pickled snapshot: {error}") from error


def memory_trace(snapshot, device=0, steps=SHOWN_STEPS, rows=SHOWN_ROWS):
    """The trace of a snapshot dictionary."""
    segments = [info for info in snapshot["segments"] if info.get("device", 0) == device]
    traces = snapshot.get("device_traces") or []
    events = traces[device] if device < len(traces) else []
    replay = Replay(segments, events, steps)
    builder = _Builder(final_state(segments), replay, rows)
    trace = Trace("memory", _title(builder.final, segments))
    trace.groups, trace.nodes = builder.groups(), builder.nodes()
    trace.steps = builder.steps()
    trace.notes = _notes(builder, events)
    trace.options = {
        "player": "memory",
        "totals": builder.final.totals(),
        "line": [replay.start_totals] + [step["totals"] for step in replay.steps] if replay.steps else [],
        "hint": _hint(trace.steps),
        "map": builder.page_maps(),
    }
    return trace


def _title(final, segments):
    blocks = sum(len(row.pieces) for row in final.rows)
    return f"{counted(len(segments), 'segment')} with {counted(blocks, 'block')} in use, now"


def _hint(steps):
    if not steps:
        return "Point at a block."
    return "Step through the history with the arrow keys, or press predict and say where each block will go."


def _notes(builder, events):
    totals, pieces = builder.final.totals(), [p for row in builder.final.rows for p in row.pieces.values()]
    asked = sum(piece.requested for piece in pieces if piece.state == "live")
    notes = [
        f"Reserved {bytes_text(totals['reserved'])}: {bytes_text(totals['allocated'])} allocated, of which "
        f"{bytes_text(asked)} were asked for."
    ]
    if totals["active"] > totals["allocated"]:
        waiting = bytes_text(totals["active"] - totals["allocated"])
        notes[0] += f" {waiting} were freed and wait for another stream."
    gaps = [(row, gap) for row in builder.final.rows for gap in row.gaps()]
    if gaps:
        whole = [row for row, gap in gaps if gap[1] == row.size]
        notes[0] += (
            f" Free: {bytes_text(sum(gap[1] for _, gap in gaps))} in {counted(len(gaps), 'piece')}, the "
            f"largest {bytes_text(max(gap[1] for _, gap in gaps))}."
        )
        notes.append(_returnable(whole))
    if not events:
        notes.append("No history was recorded, so nothing can be replayed.")
    elif builder.replay.skipped:
        notes.append(
            f"Showing the last {counted(len(builder.replay.steps), 'step')}; "
            f"{counted(builder.replay.skipped, 'earlier action')} came before."
        )
    if builder.hidden:
        notes.append(f"Showing {len(builder.rows)} of {counted(len(builder.all_rows), 'segment')}.")
    return notes


def _returnable(whole):
    if not whole:
        return "empty_cache() would give nothing back: every segment has a block in use."
    size = bytes_text(sum(row.size for row in whole))
    return (
        f"empty_cache() would give back {size}, the {counted(len(whole), 'segment')} without a block in use."
    )


class _Builder:
    """Makes nodes out of everything that ever was in a row, and steps that switch them on and off."""

    def __init__(self, final, replay, limit):
        self.final, self.replay = final, replay
        self.all_rows = [row for row in replay.state.rows if self._ever_open(row)]
        order = sorted(self.all_rows, key=lambda row: (not row.covered, -len(row.pieces), -row.size))[:limit]
        self.rows = sorted(order, key=lambda row: (not row.is_small, row.stream, row.at))
        self.hidden = len(self.all_rows) - len(self.rows)
        self.names = {id(row): f"r{number}" for number, row in enumerate(self.rows)}
        self.ids = {}
        self.finals = {id(row): row.keys() for row in self.rows}

    def _ever_open(self, row):
        opened = [self.replay.start_open, *(step["open"] for step in self.replay.steps)]
        return bool(row.covered) or any(id(row) in some for some in opened)

    def groups(self):
        return [
            {
                "id": self.names[id(row)],
                "kind": "segment",
                "pool": "small" if row.is_small else "large",
                "stream": row.stream,
                "size": row.size,
                "open": bool(row.covered),
                "expandable": row.is_expandable,
            }
            for row in self.rows
        ]

    def nodes(self):
        nodes = [node for row in self.rows for node in self._nodes_of(row)]
        if self.replay.steps:
            nodes.append(
                {
                    "id": "new",
                    "kind": "new",
                    "row": None,
                    "label": "a new segment",
                    "tip": "No free block will do: the device is asked for a segment.",
                }
            )
        return nodes

    def _nodes_of(self, row):
        keys = set(self.finals[id(row)]) | self.replay.start.get(id(row), set())
        for step in self.replay.steps:
            keys |= step["after"][id(row)]
        changing = keys - self._constant(row)
        still = sorted(keys - changing, key=_by_address)
        folded = self._folded(row, still)
        return [self._node(row, key) for key in sorted(keys, key=_by_address) if key not in folded] + [
            self._fold(row, run) for run in runs(folded, still)
        ]

    def _constant(self, row):
        """What is there from the first to the last step."""
        constant = set(self.finals[id(row)])
        if self.replay.steps:
            constant &= self.replay.start.get(id(row), set())
        for step in self.replay.steps:
            constant &= step["after"][id(row)]
        return constant

    def _folded(self, row, still):
        """Keys too narrow to be told apart, in a crowded row."""
        if len(still) <= CROWDED:
            return set()
        return {key for key in still if key[2] < row.size / 150}

    def _node(self, row, key):
        kind, at, size = key
        node = {
            "id": f"b{len(self.ids)}",
            "kind": kind,
            "row": self.names[id(row)],
            "at": at - row.at,
            "size": size,
            "final": key in self.finals[id(row)],
        }
        self.ids[id(row), key] = node["id"]
        piece = self.replay.tips.get(key) or row.pieces.get(at)
        if kind == "gap":
            return {**node, "label": bytes_text(size), "tip": f"Free: {bytes_text(size)}."}
        return {**node, "requested": piece.requested, "label": bytes_text(size), "tip": block_tip(piece)}

    def _fold(self, row, run):
        used = sum(kind != "gap" for kind, _, _ in run)
        node_id = f"f{len(self.ids)}"
        self.ids[id(row), tuple(run)] = node_id
        at, end = run[0][1], run[-1][1] + run[-1][2]
        tip = f"{len(run)} blocks too narrow to draw, {used} of them in use."
        return {
            "id": node_id,
            "kind": "fold",
            "row": self.names[id(row)],
            "at": at - row.at,
            "size": end - at,
            "final": True,
            "label": str(len(run)),
            "tip": tip,
        }

    # Steps

    def steps(self):
        if not self.replay.steps:
            return []
        first = {"ids": [], "msg": "Before the first step shown.", "set": self._at_the_start()}
        return [first, *(self._step(step, number) for number, step in enumerate(self.replay.steps, 1))]

    def _at_the_start(self):
        change = {}
        for row in self.rows:
            present = self.replay.start.get(id(row), set())
            for key in self._keys(row):
                change[self.ids[id(row), key]] = {"state": "on" if key in present else "off"}
            change[self.names[id(row)]] = {"state": "on" if id(row) in self.replay.start_open else "off"}
        change.update(self._numbers(self.replay.start_totals))
        return change

    def _keys(self, row):
        return [key for row_id, key in self.ids if row_id == id(row) and isinstance(key[0], str)]

    def _step(self, step, number):
        change = {}
        for row in self.rows:
            before, after = step["before"][id(row)], step["after"][id(row)]
            change.update({self.ids[id(row), key]: {"state": "off"} for key in sorted(before - after)})
            change.update({self.ids[id(row), key]: {"state": "on"} for key in sorted(after - before)})
            if (id(row) in step["open"]) != bool(before):
                change[self.names[id(row)]] = {"state": "on" if id(row) in step["open"] else "off"}
        change.update(self._numbers(step["totals"]))
        place = step["place"]
        target = self._id_of(place) if isinstance(place, tuple) else place
        ids = [one for one in map(self._id_of, step["focus"]) if one]
        return {"ids": [*ids, f"t{number}"], "msg": step["msg"], "set": change, "place": target}

    def _id_of(self, focus):
        if not isinstance(focus, tuple):
            return self.names.get(id(focus))
        return next((name for (_, key), name in self.ids.items() if key == focus), None)

    def _numbers(self, totals):
        return {f"n-{name}": {"text": f"{name} {bytes_text(value)}"} for name, value in totals.items()}

    def page_maps(self):
        """One line of characters per segment that exists at the end."""
        return [[self.names[id(row)], page_map(row)] for row in self.rows if row.covered]


def _by_address(key):
    kind, at, size = key
    return at, size, kind


def runs(folded, still):
    """The folded keys in stretches of neighbours."""
    found, run = [], []
    for key in still:
        if key in folded and (not run or run[-1][1] + run[-1][2] == key[1]):
            run.append(key)
            continue
        found.append(run)
        run = [key] if key in folded else []
    return [run for run in [*found, run] if run]


def page_map(row, columns=64):
    """`##5..~~...`: # full, 1 to 9 tenths in use, ~ waiting for another stream, . free, each an equal part."""
    return "".join(
        _page(row, row.at + row.size * k / columns, row.at + row.size * (k + 1) / columns)
        for k in range(columns)
    )


def _page(row, start, end):
    used = {"live": 0.0, "wait": 0.0}
    for piece in row.pieces.values():
        used[piece.state] += max(0.0, min(piece.end, end) - max(piece.at, start))
    if not any(a < end and start < b for a, b in row.covered):
        return " "
    if used["wait"] > used["live"]:
        return "~"
    tenths = used["live"] / (end - start) * 10
    return "#" if tenths > 9.95 else "." if tenths == 0 else str(max(1, min(9, round(tenths))))


__all__ = ["memory", "memory_trace", "oom_sentence"]
