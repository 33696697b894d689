"""Pools of free blocks: one for small sizes, one for large ones; within each, every stream has its own."""

from bisect import bisect_left, insort


class Pool:
    """Free blocks by stream, each stream's sorted by (size, address): the first that is large enough fits best.

    `unmapped` holds, by stream and address, the parts of expandable segments that have no memory yet.
    `searches` counts look-ups; garbage collection measures the age of free blocks with it.
    """

    def __init__(self, is_small, counters):
        self.is_small = is_small
        self.name = "small" if is_small else "large"
        self.counters = counters  # the Counters that an event in this pool moves: all pools' and its own
        self.free = {}  # stream -> sorted [(size, address, block)]
        self.unmapped = {}  # stream -> sorted [(address, block)]
        self.searches = 0

    def free_of(self, stream):
        """The sorted entries (size, address, block) of a stream."""
        return self.free.get(stream, ())

    def insert(self, block):
        block.born = self.searches
        entries = self.free.get(block.segment.stream)
        if entries is None:
            entries = self.free[block.segment.stream] = []
        insort(entries, (block.size, block.address, block))

    def remove(self, block):
        entries = self.free[block.segment.stream]
        del entries[bisect_left(entries, (block.size, block.address))]

    def free_blocks(self):
        """All free blocks, as a list that stays valid while the pool changes."""
        return [block for entries in self.free.values() for _, _, block in entries]

    def insert_unmapped(self, block):
        insort(self.unmapped.setdefault(block.segment.stream, []), (block.address, block))

    def remove_unmapped(self, block):
        entries = self.unmapped[block.segment.stream]
        del entries[bisect_left(entries, (block.address,))]

    def unmapped_of(self, stream):
        """The parts without memory of a stream's expandable segments, by address."""
        return [block for _, block in self.unmapped.get(stream, ())]
