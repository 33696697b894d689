"""The three roundings of the caching allocator, as pure functions of byte counts.

A request is rounded to a block size (512 B), the block size chooses a pool (small up to 1 MiB), and, when
nothing in the pool fits, a segment of a coarser size is asked of the device (2 MiB, 20 MiB, or a multiple of
2 MiB).
Source: c10/core/AllocatorConfig.h and c10/cuda/CUDACachingAllocator.cpp of PyTorch; the paper, section 5.3.
"""

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

MIN_BLOCK_SIZE = 512  # rounding unit of requests; smallest remainder worth splitting off
SMALL_SIZE = MIB  # largest rounded size of the small pool
SMALL_SEGMENT = 2 * MIB
MIN_LARGE_ALLOC = 10 * MIB  # rounded sizes from here on get segments of their own
LARGE_SEGMENT = 20 * MIB
ROUND_LARGE = 2 * MIB  # such segments are multiples of this
NO_LIMIT = 2**64 - 1  # max_split_size while nobody sets it


def round_up(nbytes, multiple):
    """The smallest multiple of `multiple` that is at least `nbytes`."""
    return -(-nbytes // multiple) * multiple


def round_size(nbytes, settings):
    """The block size of a request of `nbytes`: a multiple of 512 B, or a step between two powers of two.

    The latter where `settings.divisions_for(nbytes)` asks for it (`roundup_power2_divisions`).
    """
    if nbytes < MIN_BLOCK_SIZE:
        return MIN_BLOCK_SIZE
    if settings.roundup_power2_divisions is not None:
        divisions = settings.divisions_for(nbytes)
        if divisions > 1 and nbytes > MIN_BLOCK_SIZE * divisions:
            return next_power2_division(nbytes, divisions)
    return -(-nbytes // MIN_BLOCK_SIZE) * MIN_BLOCK_SIZE


def next_power2_division(nbytes, divisions):
    """`nbytes` rounded up to the next of `divisions` equal steps between the powers of two around it.

    >>> next_power2_division(1200, 4)      # the steps are 1024, 1280, 1536, 1792
    1280
    """
    floor = 1 << (nbytes.bit_length() - 1)
    step = floor // divisions
    return round_up(nbytes, step) if step else round_up(nbytes, floor)


def is_small(size):
    """Whether a rounded size belongs to the small pool."""
    return size <= SMALL_SIZE


def segment_size(size, large_segment=LARGE_SEGMENT):
    """The bytes to ask of the device when no cached block holds a rounded `size`."""
    if size <= SMALL_SIZE:
        return SMALL_SEGMENT
    if size < MIN_LARGE_ALLOC:
        return large_segment
    return round_up(size, ROUND_LARGE)


def format_size(nbytes):
    """A byte count as PyTorch's error messages write it: "512 bytes", "1.50 KiB", "20.00 MiB"."""
    if nbytes <= KIB:
        return f"{nbytes} bytes"
    if nbytes <= MIB:
        return f"{nbytes / KIB:.2f} KiB"
    if nbytes <= GIB:
        return f"{nbytes / MIB:.2f} MiB"
    return f"{nbytes / GIB:.2f} GiB"
