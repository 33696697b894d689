"""Coalescing: a block that is given back merges with its free neighbours.

All blocks are given as a list by address; each is a dict:

    {"address": 0, "size": 512, "segment": 0, "state": "used"}

state: "used", "free", or "waiting" (given back, but another stream may still use it). When a block is given
back it becomes free and merges with the block before it and the block after it, if they are free and of the
same segment. Two segments are two allocations of the device, even where their addresses touch. A waiting
block is not free yet.
"""


def can_merge(block, neighbour):
    """Return whether `neighbour`, next to `block` in the list, may become part of it."""
    # solution
    return neighbour["state"] == "free" and neighbour["segment"] == block["segment"]
    # end of solution


def give_back(blocks, address):
    """Give back the block at `address`, and return the new list of blocks.

    blocks: a list by address; neither it nor its dicts are changed.
    """
    # solution
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
    # end of solution


def is_whole_segment(blocks, address):
    """Return whether the block at `address` is free and all of its segment: only then it can go back."""
    # solution
    block = next(block for block in blocks if block["address"] == address)
    mine = [other for other in blocks if other["segment"] == block["segment"]]
    return block["state"] == "free" and len(mine) == 1
    # end of solution
