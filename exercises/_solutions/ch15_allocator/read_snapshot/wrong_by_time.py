"""Lists blocks in the order in which they were made."""

FAILS = "test_order"
SAYS = "by address"


def layout(trace, address, size):
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
    for start in blocks:
        if start > at:
            found.append((at, start - at, "free"))
        found.append((start, *blocks[start]))
        at = start + blocks[start][0]
    if at < address + size:
        found.append((at, address + size - at, "free"))
    return found


def timeline(trace):
    changes = {"alloc": (1, 0), "free_requested": (-1, 0), "segment_alloc": (0, 1), "segment_free": (0, -1)}
    allocated, reserved, rows = 0, 0, []
    for entry in trace:
        block, segment = changes.get(entry["action"], (0, 0))
        allocated, reserved = allocated + block * entry["size"], reserved + segment * entry["size"]
        rows.append((allocated, reserved))
    return rows
