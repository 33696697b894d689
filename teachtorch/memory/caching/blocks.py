"""Segments and blocks. A segment is one allocation of the device; its blocks tile it without gaps.

The blocks of a segment form a list by address (`prev`, `next`). A block is split if it has a neighbour: only
a free block without one, being the whole segment, can go back to the device.
"""


class Segment:
    """One stretch of device addresses: `size` bytes from `address`, for one stream and one pool.

    `page_size` is None for an ordinary segment; an expandable one reserves `size` addresses and maps memory
    behind them page by page (memory/caching/expandable.py). `first` is its block with the lowest address.
    """

    __slots__ = ("address", "size", "stream", "pool", "page_size", "frames", "first")

    def __init__(self, address, size, stream, pool, frames=(), page_size=None):
        self.address, self.size, self.stream, self.pool = address, size, stream, pool
        self.page_size, self.frames = page_size, frames
        self.first = Block(address, size, self)
        self.first.mapped = page_size is None

    @property
    def is_expandable(self):
        return self.page_size is not None

    def blocks(self):
        """The blocks, by address."""
        block = self.first
        while block is not None:
            yield block
            block = block.next


class Block:
    """A piece of a segment: what `malloc` hands out. Sizes in bytes.

    `size` is what it occupies, `requested_size` what was asked for. `stream_uses` holds the other streams
    that record_stream named, `event_count` how many of their events are still awaited after free.
    """

    __slots__ = (
        "address",
        "size",
        "requested_size",
        "segment",
        "prev",
        "next",
        "allocated",
        "mapped",
        "stream_uses",
        "event_count",
        "born",
        "frames",
        "__weakref__",
    )

    def __init__(self, address, size, segment):
        self.address, self.size, self.segment = address, size, segment
        self.requested_size = 0
        self.prev = self.next = None
        self.allocated = False
        self.mapped = True  # False: reserved addresses of an expandable segment, no memory behind them
        self.stream_uses = None  # a set once record_stream was called
        self.event_count = 0
        self.born = 0  # the pool's count of searches when this block became free: its age for GC
        self.frames = ()

    @property
    def stream(self):
        return self.segment.stream

    @property
    def pool(self):
        return self.segment.pool

    @property
    def is_split(self):
        return self.prev is not None or self.next is not None

    @property
    def is_awaited(self):
        """Whether other streams have to finish with it (or have been named for that) before it may be reused."""
        return self.event_count > 0 or bool(self.stream_uses)

    @property
    def is_active(self):
        """Whether it counts as active: handed out, or given back and still awaited."""
        return self.allocated or self.is_awaited

    @property
    def state(self):
        """The word of PyTorch's snapshots for it."""
        if self.allocated:
            return "active_allocated"
        return "active_awaiting_free" if self.is_awaited else "inactive"

    def split(self, size):
        """Keep the first `size` bytes; return a new block of the rest, its right neighbour."""
        rest = Block(self.address + size, self.size - size, self.segment)
        rest.mapped = self.mapped
        rest.prev, rest.next = self, self.next
        if rest.next is not None:
            rest.next.prev = rest
        self.next, self.size = rest, size
        return rest

    def can_absorb(self, neighbour):
        """Whether a neighbour is free, so that it may become part of this block."""
        return not neighbour.allocated and not neighbour.is_awaited and neighbour.mapped == self.mapped

    def absorb(self, neighbour):
        """Take over the addresses of a neighbour, which stops existing."""
        self.size += neighbour.size
        if neighbour is self.next:
            self.next = neighbour.next
            if self.next is not None:
                self.next.prev = self
            return
        self.address, self.prev = neighbour.address, neighbour.prev
        if self.prev is not None:
            self.prev.next = self
        else:
            self.segment.first = self

    def __repr__(self):
        return f"<Block {self.address:#x} {self.size} bytes, {self.state}>"
