"""Random mallocs, frees, streams, events and emptied caches: the allocator's invariants hold after every one.

TEACHTORCH_ALLOCATOR_STEPS=1000000 asks for more steps than the few thousand of a usual run.
"""

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from teachtorch.memory.caching import CachingAllocator, OutOfMemoryError, parse_alloc_conf
from tests.memory.bookkeeping import BookkeepingRuntime
from tests.memory.invariants import check

MIB = 2**20
STEPS_PER_RUN = 50
STEPS = int(os.environ.get("TEACHTORCH_ALLOCATOR_STEPS", "3000"))
SETTINGS = [
    "",
    "max_split_size_mb:24",
    "expandable_segments:True",
    "garbage_collection_threshold:0.5",
    "roundup_power2_divisions:4,large_segment_size_mb:12",
]

streams = st.integers(0, 2)
edges = [512, MIB, 2 * MIB, 10 * MIB, 20 * MIB, 24 * MIB]
sizes = st.one_of(
    st.integers(1, 4096),
    st.integers(1, 3 * MIB),
    st.integers(MIB, 40 * MIB),
    st.builds(lambda edge, off: edge + off, st.sampled_from(edges), st.integers(-513, 513)),
)


class AllocatorMachine(RuleBasedStateMachine):
    conf = ""

    def __init__(self):
        super().__init__()
        self.runtime = BookkeepingRuntime(capacity=200 * MIB)
        self.allocator = CachingAllocator(self.runtime, settings=parse_alloc_conf(self.conf))
        if "garbage" in self.conf:
            self.allocator.set_memory_fraction(0.8)
        self.blocks = []

    @rule(nbytes=sizes, stream=streams)
    def malloc(self, nbytes, stream):
        try:
            block = self.allocator.malloc(max(nbytes, 1), stream)
        except OutOfMemoryError:
            return
        assert block.size >= nbytes and block.address % 512 == 0 and block.stream == stream
        for other in self.blocks:
            assert block.address + block.size <= other.address or other.address + other.size <= block.address
        self.blocks.append(block)

    @precondition(lambda self: self.blocks)
    @rule(data=st.data())
    def free(self, data):
        self.allocator.free(self.blocks.pop(data.draw(st.integers(0, len(self.blocks) - 1))))

    @precondition(lambda self: self.blocks)
    @rule(data=st.data(), stream=streams)
    def record_stream(self, data, stream):
        self.allocator.record_stream(data.draw(st.sampled_from(self.blocks)), stream)

    @precondition(lambda self: any(not event.done for event in self.runtime.events))
    @rule(data=st.data())
    def an_event_happens(self, data):
        data.draw(st.sampled_from([event for event in self.runtime.events if not event.done])).done = True

    @rule()
    def empty_cache(self):
        self.allocator.empty_cache()
        assert all(
            block.is_split or block.is_active or block.segment.is_expandable
            for segment in self.allocator.segments.values()
            for block in segment.blocks()
        )

    @rule()
    def reset_peak(self):
        self.allocator.reset_peak_memory_stats()
        stats = self.allocator.memory_stats()
        assert stats["reserved_bytes.all.peak"] == stats["reserved_bytes.all.current"]

    @invariant()
    def holds(self):
        check(self.allocator)

    def teardown(self):
        """When everything was freed and waited for, the device has all its memory back."""
        for block in self.blocks:
            self.allocator.free(block)
        self.allocator.empty_cache()
        check(self.allocator)
        assert self.runtime.used == 0 and not self.runtime.sizes and not self.runtime.reserved


@pytest.mark.parametrize("conf", SETTINGS)
def test_invariants(conf):
    machine = type("Machine", (AllocatorMachine,), {"conf": conf})
    runs = max(STEPS // STEPS_PER_RUN // len(SETTINGS), 1)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=runs,
            stateful_step_count=STEPS_PER_RUN,
            deadline=None,
            derandomize=STEPS == 3000,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )
