"""Requests whose blocks, segments and counters follow from the rules of PyTorch's allocator, one by one."""

import pytest

from teachtorch.memory.caching import AllocatorSettings, CachingAllocator, OutOfMemoryError

from tests.memory.bookkeeping import BookkeepingRuntime

KIB, MIB = 1024, 2**20


def new_allocator(capacity=64 * 2**30):
    return CachingAllocator(BookkeepingRuntime(capacity), settings=AllocatorSettings())


@pytest.fixture
def allocator():
    return new_allocator()


def stat(allocator, name, what="current"):
    return allocator.memory_stats()[f"{name}.all.{what}"]


def reserved(allocator):
    return stat(allocator, "reserved_bytes")


def inactive_split(allocator):
    return stat(allocator, "inactive_split_bytes")


def test_two_small_requests_and_their_frees(allocator):
    first = allocator.malloc(1)
    assert (first.size, reserved(allocator), inactive_split(allocator)) == (512, 2 * MIB, 2 * MIB - 512)
    second = allocator.malloc(513)
    assert (second.size, inactive_split(allocator)) == (1024, 2 * MIB - 1536)
    assert second.address == first.address + 512
    allocator.free(first)
    assert (inactive_split(allocator), stat(allocator, "inactive_split")) == (2 * MIB - 1024, 2)
    allocator.free(second)
    assert (inactive_split(allocator), reserved(allocator)) == (0, 2 * MIB)
    allocator.empty_cache()
    assert reserved(allocator) == 0 and allocator.runtime.used == 0


@pytest.mark.parametrize(
    "request_, size, segment, rest",
    [
        (1 * MIB, 1 * MIB, 2 * MIB, 1 * MIB),
        (1 * MIB + 1, 1 * MIB + 512, 20 * MIB, 19 * MIB - 512),
        (10 * MIB - 512, 10 * MIB - 512, 20 * MIB, 10 * MIB + 512),
        (10 * MIB - 511, 10 * MIB, 10 * MIB, 0),
        (10 * MIB + 1, 10 * MIB + 512, 12 * MIB, 2 * MIB - 512),
        (21 * MIB, 22 * MIB, 22 * MIB, 0),  # the remainder is exactly 1 MiB: not split
        (2 * MIB - 512, 2 * MIB - 512, 20 * MIB, 18 * MIB + 512),
    ],
)
def test_block_segment_and_remainder_of_one_request(allocator, request_, size, segment, rest):
    block = allocator.malloc(request_)
    assert (block.size, reserved(allocator), inactive_split(allocator)) == (size, segment, rest)
    assert (stat(allocator, "requested_bytes"), stat(allocator, "allocated_bytes")) == (request_, size)


def test_a_remainder_of_512_bytes_is_split_off_in_the_small_pool(allocator):
    allocator.malloc(MIB)
    block = allocator.malloc(MIB - 512)
    assert (block.size, inactive_split(allocator)) == (MIB - 512, 512)


def test_three_requests_share_one_segment(allocator):
    blocks = [allocator.malloc(6 * MIB) for _ in range(3)]
    assert [block.size for block in blocks] == [6 * MIB] * 3
    assert (reserved(allocator), inactive_split(allocator)) == (20 * MIB, 2 * MIB)


def test_streams_never_share(allocator):
    allocator.free(allocator.malloc(5 * MIB, stream_id=0))
    allocator.malloc(5 * MIB, stream_id=1)
    assert reserved(allocator) == 40 * MIB


def test_record_stream_keeps_a_freed_block_active_until_its_event(allocator):
    first = allocator.malloc(5 * MIB)
    address = first.address
    allocator.record_stream(first, 1)
    allocator.free(first)
    assert first.state == "active_awaiting_free"
    second = allocator.malloc(5 * MIB)
    assert second.address != address
    assert (stat(allocator, "allocated_bytes"), stat(allocator, "active_bytes")) == (5 * MIB, 10 * MIB)
    assert (reserved(allocator), inactive_split(allocator)) == (20 * MIB, 10 * MIB)
    allocator.runtime.synchronize()
    third = allocator.malloc(5 * MIB)  # notices the event
    assert third.address == address
    assert stat(allocator, "active_bytes") == 10 * MIB


def test_record_stream_of_the_own_stream_changes_nothing(allocator):
    block = allocator.malloc(5 * MIB, stream_id=3)
    allocator.record_stream(block, 3)
    allocator.free(block)
    assert block.state == "inactive" and allocator.runtime.events == []


def test_a_block_used_by_two_streams_waits_for_both(allocator):
    block = allocator.malloc(5 * MIB)
    for stream in (1, 2, 1):
        allocator.record_stream(block, stream)
    allocator.free(block)
    assert block.event_count == 2
    allocator.runtime.events[0].done = True
    allocator.malloc(1)
    assert block.state == "active_awaiting_free"
    allocator.runtime.events[1].done = True
    allocator.malloc(1)
    assert block.state == "inactive"


def test_out_of_room_gives_back_the_cache_and_tries_again():
    allocator = new_allocator(40 * MIB)
    allocator.free(allocator.malloc(20 * MIB))
    allocator.malloc(30 * MIB)
    stats, runtime = allocator.memory_stats(), allocator.runtime
    assert (reserved(allocator), stats["num_alloc_retries"], stats["num_ooms"]) == (30 * MIB, 1, 0)
    assert (stats["num_device_alloc"], stats["num_device_free"]) == (2, 1)
    assert (runtime.mallocs, runtime.frees) == (3, 1)  # one of the three was refused


def test_a_half_used_segment_cannot_be_given_back():
    allocator = new_allocator(40 * MIB)
    first, second = allocator.malloc(4 * MIB), allocator.malloc(4 * MIB)
    allocator.free(first)
    with pytest.raises(
        OutOfMemoryError,
        match=r"SIM out of memory\. Tried to allocate 30\.00 MiB\. GPU 0 has a total "
        r"capacity of 40\.00 MiB of which 20\.00 MiB is free\. .*Of the allocated memory 4\.00 MiB is "
        r"allocated by PyTorch, and 16\.00 MiB is reserved by PyTorch but unallocated\. If reserved",
    ):
        allocator.malloc(30 * MIB)
    stats = allocator.memory_stats()
    assert (reserved(allocator), stats["num_alloc_retries"], stats["num_ooms"]) == (20 * MIB, 1, 1)
    allocator.free(second)
    assert allocator.malloc(30 * MIB).size == 30 * MIB  # usable afterwards


def test_holes_between_live_blocks_do_not_add_up(allocator):
    blocks = [allocator.malloc(4 * MIB) for _ in range(5)]
    for i in (0, 2, 4):
        allocator.free(blocks[i])
    assert (stat(allocator, "inactive_split"), inactive_split(allocator)) == (3, 12 * MIB)
    allocator.malloc(8 * MIB)
    assert reserved(allocator) == 40 * MIB


def test_best_fit_is_the_smallest_that_holds_it_and_ties_go_to_the_lowest_address(allocator):
    blocks = [allocator.malloc(size) for size in (6 * MIB, 2 * MIB, 4 * MIB, 2 * MIB, 4 * MIB, 2 * MIB)]
    for i in (0, 2, 4):
        allocator.free(blocks[i])
    assert allocator.malloc(4 * MIB - 512).address == blocks[2].address


def test_blocks_of_two_segments_never_merge(allocator):
    blocks = [allocator.malloc(10 * MIB) for _ in range(2)]
    for block in blocks:
        allocator.free(block)
    allocator.malloc(20 * MIB)
    assert reserved(allocator) == 40 * MIB


def test_an_awaited_block_is_not_merged(allocator):
    blocks = [allocator.malloc(5 * MIB) for _ in range(4)]
    allocator.record_stream(blocks[1], 1)
    allocator.free(blocks[1])
    allocator.free(blocks[0])
    assert (blocks[0].size, stat(allocator, "inactive_split")) == (5 * MIB, 1)
    allocator.empty_cache()  # waits for the event
    assert stat(allocator, "inactive_split_bytes") == 10 * MIB
