"""max_split_size, garbage collection, roundings, expandable segments, and the history's ring."""

import gc
import threading

import pytest

from teachtorch.core import observer
from teachtorch.memory.caching import CachingAllocator, OutOfMemoryError, parse_alloc_conf
from tests.memory.bookkeeping import BookkeepingRuntime
from tests.memory.invariants import check

MIB = 2**20


def new_allocator(conf="", capacity=64 * 2**30):
    return CachingAllocator(BookkeepingRuntime(capacity), settings=parse_alloc_conf(conf))


def stat(allocator, name):
    return allocator.memory_stats()[f"{name}.all.current"]


@pytest.mark.parametrize(
    "conf, nbytes, size",
    [
        ("roundup_power2_divisions:4", 1200, 1536),  # not above 512 * 4: the usual rounding
        ("roundup_power2_divisions:2", 1200, 1536),  # steps 1024, 1536
        ("roundup_power2_divisions:4", 5000, 5120),
        ("roundup_power2_divisions:4", 5200, 6144),
        ("roundup_power2_divisions:4", 4096, 4096),
        ("roundup_power2_divisions:[1:8,2:1]", 2**20 + 1, 2**20 + 2**17),
        ("roundup_power2_divisions:[1:8,2:1]", 3 * 2**20 + 1, 3 * 2**20 + 512),
        ("roundup_power2_divisions:[4:1,>:2]", 9 * 2**20, 12 * 2**20),
    ],
)
def test_roundings_by_power_of_2_divisions(conf, nbytes, size):
    assert new_allocator(conf).malloc(nbytes).size == size


def test_oversize_blocks_are_neither_split_nor_lent_to_smaller_requests():
    allocator = new_allocator("max_split_size_mb:24")
    big = allocator.malloc(40 * MIB)
    assert allocator.memory_stats()["oversize_segments.current"] == 1
    allocator.free(big)
    allocator.malloc(12 * MIB)
    assert stat(allocator, "reserved_bytes") == 52 * MIB  # a segment of its own
    allocator.malloc(30 * MIB)  # less than 20 MiB too large: takes it whole
    assert (stat(allocator, "reserved_bytes"), stat(allocator, "allocated_bytes")) == (52 * MIB, 52 * MIB)


def test_a_request_of_exactly_max_split_size_is_oversize_and_splits_nothing():
    allocator = new_allocator("max_split_size_mb:24")
    allocator.free(allocator.malloc(40 * MIB))
    allocator.malloc(24 * MIB)
    assert (stat(allocator, "reserved_bytes"), stat(allocator, "allocated_bytes")) == (40 * MIB, 40 * MIB)


def test_an_oversize_block_that_wastes_20_mib_is_refused():
    allocator = new_allocator("max_split_size_mb:24")
    allocator.free(allocator.malloc(60 * MIB))
    allocator.malloc(40 * MIB)
    assert stat(allocator, "reserved_bytes") == 100 * MIB


def test_oversize_blocks_go_before_the_whole_cache_does():
    allocator = new_allocator("max_split_size_mb:24", capacity=100 * MIB)
    for block in [allocator.malloc(size * MIB) for size in (10, 40, 44)]:
        allocator.free(block)
    allocator.malloc(64 * MIB)  # the 44 and the 40 MiB go, the 10 stay
    stats = allocator.memory_stats()
    assert (stats["num_alloc_retries"], stat(allocator, "reserved_bytes")) == (0, 74 * MIB)


def test_garbage_collection_takes_the_older_blocks():
    allocator = new_allocator("garbage_collection_threshold:0.5", capacity=140 * MIB)
    allocator.set_memory_fraction(1.0)
    blocks = [allocator.malloc(size * MIB) for size in (20, 22, 24)]
    allocator.malloc(5 * MIB, stream_id=1)
    allocator.free(blocks[0])
    for _ in range(5):  # searches in the large pool, by which the 20 MiB age
        allocator.free(allocator.malloc(5 * MIB, stream_id=1))
    allocator.free(blocks[1])
    allocator.malloc(30 * MIB)  # 86 MiB are reserved, 16 more than the threshold
    assert [segment.size // MIB for segment in allocator.segments.values() if segment.stream == 0] == [
        22,
        24,
        30,
    ]
    assert allocator.memory_stats()["num_alloc_retries"] == 0


def test_an_expandable_segment_grows_where_ordinary_ones_would_leave_holes():
    allocator = new_allocator("expandable_segments:True")
    first, second = allocator.malloc(15 * MIB), allocator.malloc(15 * MIB)
    assert second.address == first.address + 15 * MIB and len(allocator.segments) == 1
    assert (stat(allocator, "reserved_bytes"), stat(allocator, "segment")) == (40 * MIB, 0)
    allocator.free(second)
    third = allocator.malloc(50 * MIB)  # goes on where the free 25 MiB end
    assert third.address == first.address + 15 * MIB
    assert stat(allocator, "reserved_bytes") == 80 * MIB
    assert stat(allocator, "inactive_split_bytes") == 0


def test_whole_free_pages_are_unmapped_and_parts_of_pages_stay():
    allocator = new_allocator("expandable_segments:True")
    first, last = allocator.malloc(55 * MIB), allocator.malloc(MIB + 1)
    allocator.free(first)
    allocator.empty_cache()
    assert stat(allocator, "reserved_bytes") == 20 * MIB  # of three pages the one with the live block
    check(allocator)
    snapshot = allocator.snapshot()["segments"]
    assert [block["size"] for block in snapshot[0]["blocks"]] == [15 * MIB, MIB + 512, 4 * MIB - 512]
    allocator.free(last)
    allocator.empty_cache()
    assert allocator.runtime.used == 0 and not allocator.segments


def test_out_of_memory_in_an_expandable_segment_leaves_it_usable():
    allocator = new_allocator("expandable_segments:True", capacity=100 * MIB)
    block = allocator.malloc(30 * MIB)
    with pytest.raises(OutOfMemoryError):
        allocator.malloc(90 * MIB)
    check(allocator)
    allocator.free(block)
    assert allocator.malloc(90 * MIB).size == 90 * MIB


def test_addresses_that_get_no_memory_are_given_up():
    allocator = new_allocator("expandable_segments:True", capacity=22 * MIB)
    block = allocator.malloc(20 * MIB)
    with pytest.raises(OutOfMemoryError):
        allocator.malloc(20 * MIB, stream_id=1)
    assert len(allocator.segments) == len(allocator.runtime.reserved) == 1
    allocator.free(block)
    assert allocator.malloc(20 * MIB, stream_id=1).size == 20 * MIB


def test_the_history_is_a_ring():
    allocator = new_allocator()
    allocator.record_history(max_entries=3)
    for _ in range(4):
        allocator.free(allocator.malloc(100))
    trace = allocator.snapshot()["device_traces"][0]
    assert [entry["action"] for entry in trace] == ["free_requested", "free_completed", "snapshot"]
    allocator.record_history(None)
    assert allocator.snapshot()["device_traces"] == [[]]


def test_the_history_tells_requests_and_segments():
    allocator = new_allocator()
    allocator.record_history(skip_actions=["snapshot"])
    block = allocator.malloc(700)
    allocator.free(block)
    allocator.empty_cache()
    told = [(entry["action"], entry["size"]) for entry in allocator.snapshot()["device_traces"][0]]
    assert told == [
        ("segment_alloc", 2 * MIB),
        ("alloc", 700),
        ("free_requested", 700),
        ("free_completed", 700),
        ("segment_free", 2 * MIB),
    ]


@pytest.mark.parametrize("context, frames", [(None, 0), ("state", 1), ("all", 1)])
def test_whose_stack_is_taken(context, frames):
    allocator = new_allocator()
    allocator.record_history("all", context)
    allocator.malloc(700)
    alloc = [entry for entry in allocator.snapshot()["device_traces"][0] if entry["action"] == "alloc"][0]
    assert bool(alloc["frames"]) == bool(frames)
    if frames:
        assert alloc["frames"][0]["filename"] == __file__


def test_observers_see_the_decision():
    allocator, seen = new_allocator(), []
    with observer.watching(lambda topic, fields: seen.append(fields), "memory"):
        allocator.free(allocator.malloc(700))
    steps = [fields.get("step") or fields["action"] for fields in seen]
    assert steps == [
        "round",
        "pool",
        "miss",
        "segment_alloc",
        "split",
        "alloc",
        "free_requested",
        "free_completed",
        "merge",
    ]


def test_a_callback_may_free_memory_before_the_device_is_asked():
    allocator = new_allocator()
    block = allocator.malloc(20 * MIB)
    allocator.free_memory_callbacks.append(lambda: allocator.free(block) or True)
    assert allocator.malloc(20 * MIB).address == block.address
    assert stat(allocator, "reserved_bytes") == 20 * MIB


def test_a_finalizer_may_free_in_the_middle_of_a_malloc():
    allocator = new_allocator()

    class Holder:
        def __init__(self):
            self.block, self.me = allocator.malloc(5 * MIB), self

        def __del__(self):
            allocator.free(self.block)

    Holder()
    with observer.watching(lambda topic, fields: gc.collect(), "memory"):
        allocator.malloc(700)
    assert stat(allocator, "allocation") == 1
    check(allocator)


def test_free_twice_is_an_error():
    allocator = new_allocator()
    block = allocator.malloc(1)
    allocator.free(block)
    with pytest.raises(RuntimeError, match="invalid device pointer"):
        allocator.free(block)


def test_threads_share_it():
    allocator = new_allocator()

    def work(stream):
        for size in range(1, 300):
            block = allocator.malloc(size * 700, stream)
            allocator.record_stream(block, 9)
            allocator.free(block)

    threads = [threading.Thread(target=work, args=(stream % 2,)) for stream in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    allocator.empty_cache()
    check(allocator)
    assert allocator.runtime.used == 0


def test_the_log_prints_every_decision(capsys):
    from teachtorch.core import log

    allocator = new_allocator()
    with observer.watching(log.print_event, "memory"):
        allocator.malloc(700)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "[memory]   round: requested 700, size 1024"
    assert lines[-1] == "[memory] alloc: size 700, stream 0, rounded 1024"
