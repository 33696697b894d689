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
    raise NotImplementedError


def give_back(blocks, address):
    """Give back the block at `address`, and return the new list of blocks.

    blocks: a list by address; neither it nor its dicts are changed.
    """
    raise NotImplementedError


def is_whole_segment(blocks, address):
    """Return whether the block at `address` is free and all of its segment: only then it can go back."""
    raise NotImplementedError
