"""The recorded actions of an allocator as steps: what each decided, and what it changed in the picture."""

from viz.memory_replay import MIB, Piece, block_size, first_state, round_size
from viz.memory_words import bytes_text, counted_free, exact_text, oom_sentence


class Replay:
    """Runs the actions one after the other; `steps` holds what happened, `drawn` everything that ever was.

    The first actions, those before the last `shown`, are run without being told.
    """

    def __init__(self, segments, events, shown):
        self.events = [event for event in events if event["action"] != "snapshot"]
        self.state = first_state(segments, self.events)
        self.final = {piece["address"]: piece for info in segments for piece in with_addresses(info)}
        self.steps, self.tips = [], {}
        self.skipped = max(0, len(self.events) - shown)
        self.number = 0
        while self.number < self.skipped:
            self._run(self.events[self.number], told=False)
        self.start = {id(row): row.keys() for row in self.state.rows}
        self.start_open = {id(row) for row in self.state.rows if row.covered}
        self.start_totals = self.state.totals()
        self._note_tips()
        while self.number < len(self.events):
            self._run(self.events[self.number], told=True)

    def _run(self, event, told):
        before = {id(row): row.keys() for row in self.state.rows} if told else None
        handler = getattr(self, "_" + event["action"], None)
        step = handler(event, told) if handler else None
        self.number += 1
        if told and step is not None:
            self._note_tips()
            self.steps.append(
                {
                    **step,
                    "before": before,
                    "after": {id(row): row.keys() for row in self.state.rows},
                    "open": {id(row) for row in self.state.rows if row.covered},
                    "totals": self.state.totals(),
                }
            )

    def _note_tips(self):
        for row in self.state.rows:
            for piece in row.pieces.values():
                self.tips[piece.key()] = piece

    # Each of these changes the state, and returns {"msg", "focus": key or row, "place"} when it is told.

    def _segment_alloc(self, event, told):
        row = self._row(event)
        cause = next((later for later in self.events[self.number + 1 :] if later["action"] == "alloc"), None)
        msg = self._why_new_segment(event, cause) if told else ""
        row.open()
        row.pieces.clear()
        return {"msg": msg, "focus": [row], "place": "new"}

    def _why_new_segment(self, event, cause):
        if cause is None:
            return f"The device is asked for a segment of {bytes_text(event['size'])}."
        size = round_size(cause["size"])
        pool = "small" if size <= MIB else "large"
        free = self.state.free_blocks(event["stream"], size <= MIB)
        largest = (
            f"the largest of {counted_free(len(free))} has {bytes_text(free[-1][0])}"
            if free
            else "it has no free block"
        )
        return (
            f"malloc {exact_text(cause['size'])} on stream {event['stream']}: rounded to {exact_text(size)}, "
            f"{pool} pool. Nothing there holds it for this stream ({largest}), so the device is asked for a "
            f"segment of {bytes_text(event['size'])}."
        )

    def _segment_free(self, event, told):
        row = self._row(event)
        row.covered = []
        return {
            "msg": f"A segment of {bytes_text(event['size'])} without a live block goes back to the device.",
            "focus": [row],
            "place": None,
        }

    def _segment_map(self, event, told):
        row = next(row for row in self.state.rows if row.at <= event["addr"] < row.at + row.size)
        row.covered = joined([*row.covered, (event["addr"], event["addr"] + event["size"])])
        return {
            "msg": f"An expandable segment grows: {bytes_text(event['size'])} of memory are mapped behind "
            "its addresses.",
            "focus": [row],
            "place": "new",
        }

    def _segment_unmap(self, event, told):
        row = next(row for row in self.state.rows if row.at <= event["addr"] < row.at + row.size)
        row.covered = without(row.covered, event["addr"], event["addr"] + event["size"])
        return {
            "msg": f"{bytes_text(event['size'])} of whole free pages of an expandable segment go back to the device.",
            "focus": [row],
            "place": None,
        }

    def _alloc(self, event, told):
        row = self.state.row_of(event["addr"])
        if row is None:
            return None
        gap = row.gap_at(event["addr"])
        free = self.state.free_blocks(row.stream, row.is_small) if told else []
        piece = Piece(event["addr"], self._size(event, gap, row), event["size"], tuple(event.get("frames", ())))
        row.pieces[piece.at] = piece
        if not told:
            return None
        fresh = self.number and self.events[self.number - 1]["action"] in ("segment_alloc", "segment_map")
        return {
            "msg": alloc_sentence(event, row, piece, gap, free, fresh),
            "focus": [piece.key()],
            "place": None if fresh else ("gap", event["addr"], gap),
        }

    def _size(self, event, gap, row):
        """The block's true size where the snapshot still shows it, else by the rules."""
        last = self.final.get(event["addr"])
        again = (
            any(
                later["action"] == "alloc" and later["addr"] == event["addr"]
                for later in self.events[self.number + 1 :]
            )
            if last
            else True
        )
        if last and not again and last["state"] != "inactive" and last.get("requested_size") == event["size"]:
            return last["size"]
        return block_size(event["size"], gap, row.is_small) if gap else round_size(event["size"])

    def _free_requested(self, event, told):
        row, piece = self.state.piece_at(event["addr"])
        following = self.events[self.number + 1] if self.number + 1 < len(self.events) else {}
        if piece is None:
            return None
        if following.get("action") == "free_completed" and following["addr"] == event["addr"]:
            self.number += 1
            return self._give_back(row, piece, f"free {exact_text(piece.requested)}")
        row.pieces[piece.at] = Piece(piece.at, piece.size, piece.requested, piece.frames, "wait")
        return {
            "msg": f"free {exact_text(piece.requested)}: record_stream named another stream, which may still "
            "use it. The block stays active until that stream's event.",
            "focus": [row.pieces[piece.at].key()],
            "place": None,
        }

    def _free_completed(self, event, told):
        row, piece = self.state.piece_at(event["addr"])
        if piece is None:
            return None
        return self._give_back(row, piece, f"The other streams are done with {exact_text(piece.requested)}")

    def _give_back(self, row, piece, begin):
        del row.pieces[piece.at]
        gap = next((at, size) for at, size in row.gaps() if at <= piece.at < at + size)
        sides = [
            word for word, touches in (("left", gap[0] < piece.at), ("right", gap[0] + gap[1] > piece.end)) if touches
        ]
        merged = f", merged with its free {' and '.join(sides)} neighbour{'s' * (len(sides) - 1)}" if sides else ""
        whole = " It is the whole segment now, which could go back to the device." if gap[1] == row.size else ""
        return {
            "msg": f"{begin}: {bytes_text(piece.size)} are free{merged}: a free block of {bytes_text(gap[1])}.{whole}",
            "focus": [("gap", *gap)],
            "place": None,
        }

    def _oom(self, event, told):
        return {"msg": oom_sentence(self.state, event), "focus": [], "place": None, "is_oom": True}

    def _row(self, event):
        return next(row for row in self.state.rows if (row.at, row.size) == (event["addr"], event["size"]))


def with_addresses(info):
    """The blocks of a segment, each with its address (older snapshots leave it out)."""
    at = info["address"]
    for block in info["blocks"]:
        yield {**block, "address": block.get("address", at)}
        at += block["size"]


def alloc_sentence(event, row, piece, gap, free, fresh):
    """The decision of one malloc: rounding, pool, candidates, split."""
    size, pool = round_size(event["size"]), "small" if row.is_small else "large"
    text = f"malloc {exact_text(event['size'])} on stream {row.stream}: "
    text += f"rounded to {exact_text(size)}, {pool} pool. "
    if fresh:
        text += "The new segment serves it. "
    else:
        holding = [block for block in free if block[0] >= size]
        text += (
            f"{len(holding)} of {counted_free(len(free))} of this stream "
            f"hold{'s' * (len(holding) == 1)} it; the smallest, {bytes_text(gap)}, is taken. "
        )
    rest, unit = gap - size, "at least 512 B" if row.is_small else "more than 1 MiB"
    if piece.size < gap:
        return text + f"Split: {bytes_text(gap - piece.size)} stay free ({unit})."
    if rest > 0:
        return text + f"Not split: the rest, {bytes_text(rest)}, is not {unit}; the block has {bytes_text(gap)}."
    return text + "It fits exactly."


def joined(ranges):
    """Ranges of addresses with touching ones made one."""
    result = []
    for start, end in sorted(ranges):
        if result and result[-1][1] == start:
            result[-1] = (result[-1][0], end)
        else:
            result.append((start, end))
    return result


def without(ranges, start, end):
    """Ranges of addresses with one stretch taken out."""
    left = [(a, min(b, start)) for a, b in ranges] + [(max(a, end), b) for a, b in ranges]
    return [(a, b) for a, b in sorted(left) if a < b]
