"""Asks the device for no more than the small block."""

FAILS = "test_small_segments"
SAYS = "many small blocks share"


MIB = 1024 * 1024


def block_size(nbytes):
    return max(512, (nbytes + 511) // 512 * 512)


def pool(nbytes):
    return "small" if block_size(nbytes) <= MIB else "large"


def segment_size(nbytes):
    size = block_size(nbytes)
    if size <= MIB:
        return size
    if size < 10 * MIB:
        return 20 * MIB
    return (size + 2 * MIB - 1) // (2 * MIB) * (2 * MIB)
