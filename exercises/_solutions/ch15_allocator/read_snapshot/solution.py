"""Reading a memory snapshot: what lies where, and when it was.

The trace of a snapshot is a list of dicts, oldest first:

    {"action": "segment_alloc", "addr": 0, "size": 2097152}
    {"action": "alloc", "addr": 0, "size": 512}
    {"action": "free_requested", "addr": 0, "size": 512}
    {"action": "free_completed", "addr": 0, "size": 512}
    {"action": "segment_free", "addr": 0, "size": 2097152}

Between free_requested and free_completed a block waits for another stream: it is not in use, and not free.
(A real trace gives the requested sizes of blocks; here they are the block sizes.)
"""


def layout(trace, address, size):
    """Return a list of what lies in the segment at `address` after the trace: (address, size, state).

    By address; state: "used", "waiting" or "free". Every byte of the segment is in exactly one entry, and no
    two free entries lie side by side.
    """
    # solution
    blocks = {}
    for entry in trace:
        if not address <= entry["addr"] < address + size or entry["action"].startswith("segment"):
            continue
        if entry["action"] == "alloc":
            blocks[entry["addr"]] = (entry["size"], "used")
        elif entry["action"] == "free_requested":
            blocks[entry["addr"]] = (entry["size"], "waiting")
        elif entry["action"] == "free_completed":
            del blocks[entry["addr"]]
    found, at = [], address
    for start in sorted(blocks):
        if start > at:
            found.append((at, start - at, "free"))
        found.append((start, *blocks[start]))
        at = start + blocks[start][0]
    if at < address + size:
        found.append((at, address + size - at, "free"))
    return found
    # end of solution


def timeline(trace):
    """Return one pair (allocated, reserved) of bytes after each entry of the trace.

    A block is allocated until free_requested.
    """
    # solution
    changes = {"alloc": (1, 0), "free_requested": (-1, 0), "segment_alloc": (0, 1), "segment_free": (0, -1)}
    allocated, reserved, rows = 0, 0, []
    for entry in trace:
        block, segment = changes.get(entry["action"], (0, 0))
        allocated, reserved = allocated + block * entry["size"], reserved + segment * entry["size"]
        rows.append((allocated, reserved))
    return rows
    # end of solution
