"""What the allocator gives back to the device, and when: empty_cache, garbage collection, and the way out of memory.

Only a block that is a whole segment can go back. A segment with one small live tensor in it stays.
"""

from . import expandable
from .sizes import NO_LIMIT


def release_cached(allocator):
    """Give back every free segment of every stream, after waiting for all blocks that other streams still use."""
    allocator.finish_deferred()
    for pool in (allocator.large, allocator.small):
        for block in pool.free_blocks():
            if block.segment.is_expandable:
                expandable.unmap_block(allocator, block)
            elif not block.is_split:
                allocator.close_segment(block)


def release_oversize(allocator, pool, stream, size):
    """With max_split_size set: give back one oversize block of the stream that makes room for `size` bytes.

    If none is large enough, the largest ones until their sum is. Whether enough was given back.
    """
    limit = allocator.settings.max_split_size
    if limit == NO_LIMIT:
        return False
    wanted = max(size, limit)
    entries = [entry for entry in pool.free_of(stream) if not entry[2].segment.is_expandable]
    enough = [block for found, _, block in entries if found >= wanted]
    if enough:
        allocator.close_segment(enough[0])
        return True
    return release_largest(allocator, [block for found, _, block in entries if found >= limit], wanted)


def release_largest(allocator, blocks, wanted):
    """Give back blocks, sorted by size, from the largest on, until their sum reaches `wanted`."""
    released = 0
    while blocks and released < wanted:
        block = blocks.pop()
        released += block.size
        allocator.close_segment(block)
    return released >= wanted


def collect_garbage(allocator):
    """Give back old large segments while more than `garbage_collection_threshold` of the cap is reserved.

    The age of a free block is the number of searches in its pool since it became free. Those at least as old
    as the average go first, without waiting for the device.
    """
    threshold = int(allocator.settings.garbage_collection_threshold * allocator.allowed)
    excess = allocator.reserved - threshold
    while excess > 0 and (released := release_older_half(allocator)):
        excess -= released


def release_older_half(allocator):
    """Give back the large free segments of at least average age; the bytes of them."""
    pool = allocator.large
    blocks = [block for block in pool.free_blocks() if not block.is_split and not block.segment.is_expandable]
    if not blocks:
        return 0
    average = sum(pool.searches - block.born for block in blocks) / len(blocks)
    old = [block for block in blocks if pool.searches - block.born >= average]
    released = sum(block.size for block in old)
    for block in old:
        allocator.close_segment(block)
    return released
