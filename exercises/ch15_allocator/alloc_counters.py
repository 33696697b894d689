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
        raise NotImplementedError

    def malloc(self, requested, block):
        """A block of `block` bytes was handed out for a request of `requested` bytes."""
        raise NotImplementedError

    def free_requested(self, requested, block):
        """free() was called for a block that was counted with these sizes."""
        raise NotImplementedError

    def free_completed(self, requested, block):
        """The block can be handed out again."""
        raise NotImplementedError

    def segment(self, nbytes):
        """The device gave a segment of `nbytes`, or took one back (then `nbytes` is negative)."""
        raise NotImplementedError

    def reset_peak(self):
        """Let every peak begin again from the current value."""
        raise NotImplementedError

    def stats(self):
        """Return {"allocated.current": ..., "allocated.peak": ...} and so on for the four counters."""
        raise NotImplementedError
