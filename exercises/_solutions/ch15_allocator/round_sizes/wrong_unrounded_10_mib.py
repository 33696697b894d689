"""Compares the request, not the block, with 10 MiB."""

FAILS = "test_just_below_10_mib"
SAYS = "the block has 10 MiB"


MIB = 1024 * 1024


def block_size(nbytes):
    return max(512, (nbytes + 511) // 512 * 512)


def pool(nbytes):
    return "small" if block_size(nbytes) <= MIB else "large"


def segment_size(nbytes):
    size = block_size(nbytes)
    if size <= MIB:
        return 2 * MIB
    if nbytes < 10 * MIB:
        return 20 * MIB
    return (size + 2 * MIB - 1) // (2 * MIB) * (2 * MIB)
