"""Expandable segments: one range of addresses per stream and pool, which memory is put behind page by page.

A hole in the middle of ordinary segments stays a hole; here the range grows at its end, so that a larger
request can continue where smaller ones were freed. `expandable_segments:True` asks for it; the device must be
able to map.
"""

from ..runtime import DeviceOutOfMemory
from .blocks import Segment
from .sizes import SMALL_SEGMENT, round_up


def open_block(allocator, pool, stream, size):
    """A free block of at least `size` bytes out of an expandable segment, mapped as needed; None without room."""
    block = find_room(pool, stream, size) or new_range(allocator, pool, stream)
    if not block.mapped and not map_block(allocator, block, min(block.size, size)):
        if not block.is_split:  # a range of addresses with no memory at all
            release_range(allocator, block.segment)
        return None
    while block.size < size:
        following = block.next  # unmapped: mapping it lets it absorb `block`
        if not map_block(allocator, following, min(size - block.size, following.size)):
            return None
        block = following
    pool.remove(block)
    return block


def find_room(pool, stream, size):
    """The first of neighbouring blocks, free or unmapped, that add up to `size`; None if there are none."""
    for block in pool.unmapped_of(stream):
        first = block.prev if block.prev is not None and not block.prev.is_active else block
        if room_from(first, size):
            return first
    return None


def room_from(block, size):
    found = 0
    while found < size and block is not None and not block.is_active:
        found += block.size
        block = block.next
    return found >= size


def new_range(allocator, pool, stream):
    """Reserve addresses for an eighth more than the device's memory; the one block of them, unmapped."""
    page = SMALL_SEGMENT if pool.is_small else allocator.settings.large_segment_size
    _, total = allocator.runtime.memory_info()
    size = round_up(total + total // 8, page)
    address = allocator.runtime.reserve_addresses(size)
    segment = allocator.segments[address] = Segment(address, size, stream, pool, page_size=page)
    pool.insert_unmapped(segment.first)
    return segment.first


def map_block(allocator, block, size):
    """Put memory behind the first `size` bytes (rounded up to pages) of an unmapped block; False without room."""
    segment, pool = block.segment, block.pool
    size = round_up(size, segment.page_size)
    try:
        allocator.runtime.map_memory(block.address, size)
    except DeviceOutOfMemory:
        return False
    pool.remove_unmapped(block)
    if size < block.size:
        pool.insert_unmapped(block.split(size))
    block.mapped = True
    allocator.segment_event("segment_map", segment, block.address, size)
    allocator.merge_neighbours(block)
    pool.insert(block)
    return True


def unmap_block(allocator, block):
    """Take the memory behind the whole pages of a free block away. Parts of pages at its ends stay free blocks."""
    segment, pool = block.segment, block.pool
    start = segment.address + round_up(block.address - segment.address, segment.page_size)
    end = (
        segment.address
        + (block.address + block.size - segment.address) // segment.page_size * segment.page_size
    )
    if start >= end:
        return
    pool.remove(block)
    middle = cut_out(pool, block, start, end)
    allocator.runtime.unmap_memory(start, end - start)
    middle.mapped = False
    allocator.segment_event("segment_unmap", segment, start, start - end)
    allocator.merge_neighbours(middle)
    pool.insert_unmapped(middle)
    if not middle.is_split:
        release_range(allocator, segment)


def cut_out(pool, block, start, end):
    """The part of a block between two addresses, as a block; what is left on both sides goes to the pool."""
    if start > block.address:
        block, before = block.split(start - block.address), block
        pool.insert(before)
    if end < block.address + block.size:
        pool.insert(block.split(end - block.address))
    return block


def release_range(allocator, segment):
    """Give up the addresses of a segment that has no memory left."""
    segment.pool.remove_unmapped(segment.first)
    allocator.runtime.release_addresses(segment.address, segment.size)
    del allocator.segments[segment.address]
