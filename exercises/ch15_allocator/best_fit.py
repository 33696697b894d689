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
    raise NotImplementedError


def is_split(block_size, size, is_small):
    """Return whether a block of `block_size` bytes is split for `size` bytes; is_small: in the small pool."""
    raise NotImplementedError


def malloc(free, size, is_small):
    """Return (address, bytes taken, free blocks afterwards by address); None if no block holds `size`.

    free: not changed.
    """
    raise NotImplementedError
