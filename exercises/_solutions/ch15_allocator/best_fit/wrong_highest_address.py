"""Takes the highest of equal blocks."""

FAILS = "test_ties"
SAYS = "the lowest address"


MIB = 1024 * 1024


def candidate(free, size):
    holding = [(block_size, address) for address, block_size in free if block_size >= size]
    if not holding:
        return None
    block_size, address = min(holding, key=lambda pair: (pair[0], -pair[1]))
    return address, block_size


def is_split(block_size, size, is_small):
    remaining = block_size - size
    return remaining >= 512 if is_small else remaining > MIB


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
