"""Merges wherever addresses touch."""

FAILS = "test_segments"
SAYS = "another segment"


def can_merge(block, neighbour):
    return neighbour["state"] == "free"


def give_back(blocks, address):
    index = next(i for i, block in enumerate(blocks) if block["address"] == address)
    merged, first, last = {**blocks[index], "state": "free"}, index, index + 1
    if first > 0 and can_merge(merged, blocks[first - 1]):
        first -= 1
        merged["address"] = blocks[first]["address"]
        merged["size"] += blocks[first]["size"]
    if last < len(blocks) and can_merge(merged, blocks[last]):
        merged["size"] += blocks[last]["size"]
        last += 1
    return [*blocks[:first], merged, *blocks[last:]]


def is_whole_segment(blocks, address):
    block = next(block for block in blocks if block["address"] == address)
    mine = [other for other in blocks if other["segment"] == block["segment"]]
    return block["state"] == "free" and len(mine) == 1
