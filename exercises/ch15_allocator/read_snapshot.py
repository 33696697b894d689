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
    raise NotImplementedError


def timeline(trace):
    """Return one pair (allocated, reserved) of bytes after each entry of the trace.

    A block is allocated until free_requested.
    """
    raise NotImplementedError
