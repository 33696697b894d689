"""The three roundings of the caching allocator.

A request of n bytes is rounded three times:

1. to a *block*: a multiple of 512 bytes, and at least 512;
2. to a *pool*: blocks of up to 1 MiB are small, the others large;
3. when no free block fits, to a *segment*, which the device is asked for: 2 MiB for a small block; 20 MiB for
   a large block below 10 MiB; from 10 MiB on, the block rounded up to a multiple of 2 MiB.

Steps 2 and 3 look at the block, not at the request.
"""

MIB = 1024 * 1024


def block_size(nbytes):
    """Return the size of the block for a request of `nbytes` (at least 1)."""
    # solution
    return max(512, (nbytes + 511) // 512 * 512)
    # end of solution


def pool(nbytes):
    """Return "small" or "large": the pool that serves a request of `nbytes`."""
    # solution
    return "small" if block_size(nbytes) <= MIB else "large"
    # end of solution


def segment_size(nbytes):
    """Return the bytes to ask of the device when no free block fits a request of `nbytes`."""
    # solution
    size = block_size(nbytes)
    if size <= MIB:
        return 2 * MIB
    if size < 10 * MIB:
        return 20 * MIB
    return (size + 2 * MIB - 1) // (2 * MIB) * (2 * MIB)
    # end of solution
