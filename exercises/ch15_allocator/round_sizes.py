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
    raise NotImplementedError


def pool(nbytes):
    """Return "small" or "large": the pool that serves a request of `nbytes`."""
    raise NotImplementedError


def segment_size(nbytes):
    """Return the bytes to ask of the device when no free block fits a request of `nbytes`."""
    raise NotImplementedError
