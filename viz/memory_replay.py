"""A memory snapshot told as a history: what lay where before and after each recorded action.

Free blocks need no books of their own: free neighbours are always merged, so a free block is a gap between
live ones. Sizes of blocks that are gone are not in a snapshot; the allocator's rules give them back from the
requests.
"""

from dataclasses import dataclass, field

KIB, MIB = 1024, 2**20


def round_size(nbytes):
    """The block size of a request, by the usual rule."""
    return max(512, -(-nbytes // 512) * 512)


def block_size(requested, gap, is_small):
    """What a request takes of a gap: the rest is split off if it is worth it."""
    size = round_size(requested)
    rest = gap - size
    splits = rest >= 512 if is_small else rest > MIB
    return size if splits or rest < 0 else gap


@dataclass
class Piece:
    """A live or awaited block."""

    at: int
    size: int
    requested: int
    frames: tuple = ()
    state: str = "live"  # or "wait": freed, but another stream may still use it

    @property
    def end(self):
        return self.at + self.size

    def key(self):
        return (self.state, self.at, self.size)


@dataclass
class Row:
    """A segment, or the range of an expandable one: what lies in it now. `covered` is where it has memory."""

    at: int
    size: int
    stream: int
    is_small: bool
    is_expandable: bool = False
    pieces: dict = field(default_factory=dict)
    covered: list = field(default_factory=list)

    def open(self):
        self.covered = [(self.at, self.at + self.size)]

    def gaps(self):
        """(address, size) of the free blocks, by address."""
        found, pieces = [], sorted(self.pieces.values(), key=lambda piece: piece.at)
        for start, end in self.covered:
            for piece in pieces:
                if start <= piece.at < end:
                    found.append((start, piece.at - start))
                    start = piece.end
            found.append((start, end - start))
        return [gap for gap in found if gap[1] > 0]

    def gap_at(self, address):
        """The free block that starts there, as a size; 0 if none does."""
        return next((size for at, size in self.gaps() if at == address), 0)

    def keys(self):
        """Everything that is drawn of it: free, live and awaited blocks."""
        drawn = [("gap", at, size) for at, size in self.gaps()]
        return set(drawn) | {piece.key() for piece in self.pieces.values()}


class State:
    """All segments of a device at one moment."""

    def __init__(self, rows):
        self.rows = rows

    def row_of(self, address):
        """The open segment that holds an address."""
        for row in self.rows:
            if any(start <= address < end for start, end in row.covered):
                return row
        return None

    def piece_at(self, address):
        row = self.row_of(address)
        return (row, row.pieces.get(address)) if row else (None, None)

    def totals(self):
        """The four sums that memory_stats tells, in bytes."""
        pieces = [piece for row in self.rows for piece in row.pieces.values()]
        return {
            "requested": sum(piece.requested for piece in pieces),
            "allocated": sum(piece.size for piece in pieces if piece.state == "live"),
            "active": sum(piece.size for piece in pieces),
            "reserved": sum(end - start for row in self.rows for start, end in row.covered),
        }

    def free_blocks(self, stream, is_small):
        """(size, address) of the free blocks that a request may take, smallest first."""
        rows = [row for row in self.rows if row.stream == stream and row.is_small == is_small]
        return sorted((size, at) for row in rows for at, size in row.gaps())


def final_state(segments):
    """The State that a snapshot's segments describe."""
    rows = []
    for info in segments:
        row = Row(
            info["address"],
            info["total_size"],
            info["stream"],
            info["segment_type"] == "small",
            bool(info.get("is_expandable")),
        )
        row.open()
        at = info["address"]
        for block in info["blocks"]:
            at = block.get("address", at)
            if block["state"] != "inactive":
                row.pieces[at] = _piece(at, block)
            at += block["size"]
        rows.append(row)
    return State(rows)


def _piece(at, block):
    state = "live" if block["state"] == "active_allocated" else "wait"
    requested = block.get("requested_size") or block["size"]
    return Piece(at, block["size"], requested, tuple(block.get("frames", ())), state)


def first_state(segments, events):
    """The State before the first recorded action: what was there without having been made in the record."""
    end = final_state(segments)
    rows, opened, born = _all_rows(end, events), set(), set()
    state = State(rows)
    for event in events:
        action, address = event["action"], event.get("addr")
        if action == "segment_alloc":
            opened.add((address, event["size"]))
        elif action == "segment_free" and (address, event["size"]) not in opened:
            _row_at(rows, address, event["size"]).open()
        elif action == "alloc":
            born.add(address)
        elif action == "free_requested" and address in born:
            born.discard(address)
        elif action == "free_requested":
            _put_early(rows, Piece(address, round_size(event["size"]), event["size"]))
    for row in end.rows:
        _keep_what_was_there(rows, row, opened, born, events)
    return state


def _keep_what_was_there(rows, row, opened, born, events):
    """A segment of the end that nobody opened in the record was there before, and so were its unborn blocks."""
    mapped = any(event["action"] == "segment_map" for event in events)
    mine = _row_at(rows, row.at, row.size)
    if (row.at, row.size) not in opened and not (row.is_expandable and mapped):
        mine.open()
    freed = {event["addr"] for event in events if event["action"] == "free_requested"}
    for piece in row.pieces.values():
        if piece.at not in born and piece.at not in freed:
            mine.pieces[piece.at] = piece


def _put_early(rows, piece):
    for row in rows:
        if row.at <= piece.at < row.at + row.size:
            row.pieces.setdefault(piece.at, piece)
            return


def _row_at(rows, address, size):
    return next(row for row in rows if row.at <= address and address + size <= row.at + row.size)


def _all_rows(end, events):
    """A closed row for every segment that ever was; pages of expandable ones that touch are one row."""
    rows = [Row(row.at, row.size, row.stream, row.is_small, row.is_expandable) for row in end.rows]
    for event in events:
        if event["action"] in ("segment_alloc", "segment_free"):
            if not any((row.at, row.size) == (event["addr"], event["size"]) for row in rows):
                small = event["size"] == 2 * MIB
                rows.append(Row(event["addr"], event["size"], event["stream"], small))
        elif event["action"] in ("segment_map", "segment_unmap"):
            _extend(rows, event)
    return rows


def _extend(rows, event):
    """Let the expandable row that touches these pages reach over them."""
    start, end = event["addr"], event["addr"] + event["size"]
    for row in rows:
        if row.is_expandable and start <= row.at + row.size and row.at <= end:
            last = max(end, row.at + row.size)
            row.at = min(start, row.at)
            row.size = last - row.at
            return
    rows.append(Row(start, event["size"], event["stream"], event["size"] % (20 * MIB) != 0, True))
