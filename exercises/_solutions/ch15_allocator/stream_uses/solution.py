"""record_stream: a block that another stream still uses is not free yet.

Here all blocks have one size; a block is a number. Each block belongs to the stream it was allocated for, and
is handed out again to that stream only: work of one stream runs in order, so whatever the stream still does
with the block happens before the next owner's work.

`record_stream(block, stream)` says that another stream uses the block, too. `free(block)` then marks a point
in each of these streams with `record_event(stream)`, and the block is free when all these events are done.
The host never waits: `malloc` asks each event, with `.query()`, whether it is done.
"""


class StreamCache:
    """A cache of blocks of one size."""

    def __init__(self, record_event):
        """record_event(stream): returns an event, whose .query() says whether the stream has got there."""
        # solution
        self.record_event = record_event
        self.stream_of, self.uses, self.free_blocks, self.waiting = {}, {}, set(), {}
        # end of solution

    def malloc(self, stream):
        """Return a block for `stream`: its lowest free one, or else a new number (0, 1, 2 ...)."""
        # solution
        for block, events in list(self.waiting.items()):
            if all(event.query() for event in events):
                del self.waiting[block]
                self.free_blocks.add(block)
        mine = [block for block in self.free_blocks if self.stream_of[block] == stream]
        if mine:
            block = min(mine)
            self.free_blocks.remove(block)
        else:
            block = len(self.stream_of)
            self.stream_of[block] = stream
        self.uses[block] = set()
        return block
        # end of solution

    def record_stream(self, block, stream):
        """Note that `stream` uses the block; nothing to do for the stream it was allocated for."""
        # solution
        if stream != self.stream_of[block]:
            self.uses[block].add(stream)
        # end of solution

    def free(self, block):
        """Take the block back: free at once if no other stream uses it, else when their events are done."""
        # solution
        events = [self.record_event(stream) for stream in sorted(self.uses[block])]
        if events:
            self.waiting[block] = events
        else:
            self.free_blocks.add(block)
        # end of solution
