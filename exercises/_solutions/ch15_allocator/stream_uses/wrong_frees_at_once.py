"""Frees a block at once, whoever uses it."""

FAILS = "test_waits"
SAYS = "has not got there yet"


class StreamCache:
    def __init__(self, record_event):
        self.record_event = record_event
        self.stream_of, self.uses, self.free_blocks, self.waiting = {}, {}, set(), {}

    def malloc(self, stream):
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

    def record_stream(self, block, stream):
        if stream != self.stream_of[block]:
            self.uses[block].add(stream)

    def free(self, block):
        events = [self.record_event(stream) for stream in sorted(self.uses[block])]
        self.free_blocks.add(block)
