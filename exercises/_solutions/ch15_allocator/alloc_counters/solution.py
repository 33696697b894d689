"""What memory_stats counts: requested, allocated, active, reserved, and their peaks.

- requested: the bytes that were asked for, until the block can be handed out again;
- allocated: the bytes of the blocks in use, with all rounding, until free() is called;
- active: the same bytes, but until the block can be handed out again: a block that another stream still uses
  has been freed, and is active;
- reserved: the bytes of all segments.

free() of a block that nobody else uses is completed at once: both calls come one after the other.
Each counter has a `current` value and a `peak`. reset_peak() lets every peak begin again from `current`.
"""


class Counters:
    """The four counters of a device."""

    def __init__(self):
        # solution
        names = ("requested", "allocated", "active", "reserved")
        self.current, self.peak = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
        # end of solution

    def malloc(self, requested, block):
        """A block of `block` bytes was handed out for a request of `requested` bytes."""
        # solution
        add(self, "requested", requested)
        add(self, "allocated", block)
        add(self, "active", block)
        # end of solution

    def free_requested(self, requested, block):
        """free() was called for a block that was counted with these sizes."""
        # solution
        add(self, "allocated", -block)
        # end of solution

    def free_completed(self, requested, block):
        """The block can be handed out again."""
        # solution
        add(self, "requested", -requested)
        add(self, "active", -block)
        # end of solution

    def segment(self, nbytes):
        """The device gave a segment of `nbytes`, or took one back (then `nbytes` is negative)."""
        # solution
        add(self, "reserved", nbytes)
        # end of solution

    def reset_peak(self):
        """Let every peak begin again from the current value."""
        # solution
        self.peak = dict(self.current)
        # end of solution

    def stats(self):
        """Return {"allocated.current": ..., "allocated.peak": ...} and so on for the four counters."""
        # solution
        result = {}
        for name in self.current:
            result[f"{name}.current"], result[f"{name}.peak"] = self.current[name], self.peak[name]
        return result
        # end of solution


# solution
def add(counters, name, amount):
    """Change a counter."""
    counters.current[name] += amount
    counters.peak[name] = max(counters.peak[name], counters.current[name])


# end of solution
