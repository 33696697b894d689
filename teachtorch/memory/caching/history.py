"""The memory history: what happened, in the words of torch.cuda.memory._snapshot()'s device traces.

Each entry has action, addr, size, stream, time_us and frames; `oom` has device_free in place of addr. Sizes
of alloc and free entries are the requested ones, those of segment entries the segment's.
"""

import os
import sys
import time
from collections import deque

ACTIONS = (
    "alloc",
    "free_requested",
    "free_completed",
    "segment_alloc",
    "segment_free",
    "segment_map",
    "segment_unmap",
    "snapshot",
    "oom",
)
HERE = os.path.dirname(__file__)


class History:
    """A ring of the last `max_entries` actions, and what of the Python stack to keep with them.

    `enabled`: None, "state" (stacks of live blocks only) or "all" (the actions too). `context`: whose stacks
    to take: None, "state" and "alloc" (allocations), or "all" (frees and the rest too).
    """

    def __init__(self):
        self.entries = deque()
        self.enabled = self.context = None
        self.skipped = frozenset()

    def record(self, enabled, context, max_entries, clear, skip_actions):
        """Start, change or stop (enabled=None, which forgets everything)."""
        check_choice("enabled", enabled, (None, "state", "all"))
        check_choice("context", context, (None, "state", "alloc", "all"))
        kept = () if clear or enabled is None else self.entries
        self.entries = deque(kept, None if max_entries >= sys.maxsize else max_entries)
        self.enabled, self.context = enabled, context
        self.skipped = frozenset(skip_actions or ())

    def frames_for(self, action):
        """The Python stack, innermost first, if this action's is wanted; else nothing."""
        if self.enabled is None or self.context is None:
            return ()
        if action not in ("alloc", "segment_alloc", "segment_map") and self.context != "all":
            return ()
        return python_stack()

    def add(self, action, address, size, stream, frames):
        """Keep an action, unless only the state is recorded. For `oom` the address is the device's free bytes."""
        if self.enabled != "all" or action in self.skipped:
            return
        where = "device_free" if action == "oom" else "addr"
        self.entries.append(
            {
                "action": action,
                where: address,
                "size": size,
                "stream": stream,
                "time_us": time.time_ns() // 1000,
                "frames": list(frames),
                "compile_context": "N/A",
                "user_metadata": "",
                "pool_id": (0, 0),
            }
        )


def check_choice(name, given, allowed):
    if given not in allowed:
        raise ValueError(f"expected {name} to be one of {allowed}, but got {given!r}")


def python_stack():
    """The frames outside the allocator as [{filename, line, name}], the caller's first."""
    frame, found = sys._getframe(1), []
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(HERE):
            found.append({"filename": code.co_filename, "line": frame.f_lineno, "name": code.co_name})
        frame = frame.f_back
    return found
