"""Splits a large block when exactly 1 MiB is left."""

FAILS = "test_large_rule"
SAYS = "more than 1 MiB"


MIB = 1024 * 1024


def candidate(free, size):
    holding = [(block_size, address) for address, block_size in free if block_size >= size]
    if not holding:
        return None
    block_size, address = min(holding)
    return address, block_size


def is_split(block_size, size, is_small):
    remaining = block_size - size
    return remaining >= 512 if is_small else remaining >= MIB


def malloc(free, size, is_small):
    found = candidate(free, size)
    if found is None:
        return None
    address, block_size = found
    left = [block for block in free if block != found]
    if is_split(block_size, size, is_small):
        left.append((address + size, block_size - size))
        block_size = size
    return address, block_size, sorted(left)
