"""What must hold of an allocator between any two calls, whatever was called before."""

from teachtorch.memory.caching.counters import FAMILIES


def check(allocator, used=None):
    """AssertionError unless blocks tile segments, free neighbours are merged and every counter is a sum of blocks.

    `used`: how many bytes of the device are taken; its runtime says so unless given.
    """
    segments = list(allocator.segments.values())
    for segment in segments:
        check_tiling(segment)
        check_merged(segment)
    blocks = [block for segment in segments for block in segment.blocks()]
    assert {id(block) for block in allocator.live.values()} == {
        id(block) for block in blocks if block.allocated
    }
    for pool in (allocator.small, allocator.large):
        check_pool(pool, [block for block in blocks if block.pool is pool])
    check_counters(allocator, segments, blocks)
    assert allocator.reserved == (allocator.runtime.used if used is None else used)


def check_tiling(segment):
    at, previous = segment.address, None
    for block in segment.blocks():
        assert (block.address, block.prev) == (at, previous)
        assert block.size > 0 and block.segment is segment
        at, previous = block.address + block.size, block
    assert at == segment.address + segment.size


def check_merged(segment):
    for block in segment.blocks():
        if block.next is not None and not block.is_active and not block.next.is_active:
            assert block.mapped != block.next.mapped, f"{block} and {block.next} should be one"


def check_pool(pool, blocks):
    """The pool holds exactly its free blocks, under their present size and address, in order."""
    for stream in {block.stream for block in blocks}:
        mine = [block for block in blocks if block.stream == stream and not block.is_active]
        free = sorted((block.size, block.address) for block in mine if block.mapped)
        assert [entry[:2] for entry in pool.free_of(stream)] == free
        unmapped = sorted(block.address for block in mine if not block.mapped)
        assert [block.address for block in pool.unmapped_of(stream)] == unmapped


def check_counters(allocator, segments, blocks):
    stats = allocator.memory_stats()
    for group, members in {"all": None, "small_pool": allocator.small, "large_pool": allocator.large}.items():
        chosen = [block for block in blocks if members in (None, block.pool)]
        opened = [segment for segment in segments if members in (None, segment.pool)]
        for family, value in sums(chosen, opened).items():
            counter = {
                what: stats[f"{family}.{group}.{what}"] for what in ("current", "peak", "allocated", "freed")
            }
            assert counter["current"] == value, (family, group)
            assert counter["peak"] >= value and counter["allocated"] - counter["freed"] == value


def sums(blocks, segments):
    """Every family, added up from the blocks."""
    live = [block for block in blocks if block.allocated]
    active = [block for block in blocks if block.is_active]
    split = [
        block
        for block in blocks
        if not block.is_active and block.is_split and not block.segment.is_expandable
    ]
    found = {
        "allocation": len(live),
        "allocated_bytes": total(live),
        "active": len(active),
        "active_bytes": total(active),
        "requested_bytes": sum(block.requested_size for block in active),
        "inactive_split": len(split),
        "inactive_split_bytes": total(split),
        "segment": sum(not segment.is_expandable for segment in segments),
        "reserved_bytes": total([block for block in blocks if block.mapped]),
    }
    assert set(found) == set(FAMILIES)
    return found


def total(blocks):
    return sum(block.size for block in blocks)
