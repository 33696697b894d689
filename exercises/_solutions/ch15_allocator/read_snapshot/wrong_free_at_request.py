"""Takes a waiting block for a free one."""

FAILS = "test_waiting"
SAYS = "not free before"


def layout(trace, address, size):
    blocks = {}
    for entry in trace:
        if not address <= entry["addr"] < address + size or entry["action"].startswith("segment"):
            continue
        if entry["action"] == "alloc":
            blocks[entry["addr"]] = (entry["size"], "used")
        elif entry["action"] == "free_requested":
            blocks.pop(entry["addr"])
        elif entry["action"] == "free_completed":
            blocks.pop(entry["addr"], None)
    found, at = [], address
    for start in sorted(blocks):
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
