"""Best fit, and when a block is split.

The free blocks of one pool and one stream are given as a list of pairs (address, size). For a block of `size`
bytes the allocator looks at one candidate: the smallest free block that holds it, and among equals the one
with the lowest address.

What is left over becomes a free block of its own if it is worth it:

- in the small pool: if at least 512 bytes are left;
- in the large pool: if more than 1 MiB is left.

Otherwise the whole block is handed out. The head of the block is handed out, its tail stays free.
"""

MIB = 1024 * 1024


def candidate(free, size):
    """Return the pair (address, size) of the block that the allocator looks at; None if none holds `size`."""
    # solution
    holding = [(block_size, address) for address, block_size in free if block_size >= size]
    if not holding:
        return None
    block_size, address = min(holding)
    return address, block_size
    # end of solution


def is_split(block_size, size, is_small):
    """Return whether a block of `block_size` bytes is split for `size` bytes; is_small: in the small pool."""
    # solution
    remaining = block_size - size
    return remaining >= 512 if is_small else remaining > MIB
    # end of solution


def malloc(free, size, is_small):
    """Return (address, bytes taken, free blocks afterwards by address); None if no block holds `size`.

    free: not changed.
    """
    # solution
    found = candidate(free, size)
    if found is None:
        return None
    address, block_size = found
    left = [block for block in free if block != found]
    if is_split(block_size, size, is_small):
        left.append((address + size, block_size - size))
        block_size = size
    return address, block_size, sorted(left)
    # end of solution
