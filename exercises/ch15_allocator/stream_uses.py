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
        raise NotImplementedError

    def malloc(self, stream):
        """Return a block for `stream`: its lowest free one, or else a new number (0, 1, 2 ...)."""
        raise NotImplementedError

    def record_stream(self, block, stream):
        """Note that `stream` uses the block; nothing to do for the stream it was allocated for."""
        raise NotImplementedError

    def free(self, block):
        """Take the block back: free at once if no other stream uses it, else when their events are done."""
        raise NotImplementedError
