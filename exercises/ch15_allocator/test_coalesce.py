"""Grades coalesce.py."""

from exercises.grading import equal, points


def blocks_of(*parts):
    """Blocks of 512 bytes and more from (size, segment, state), one after the other."""
    made, address = [], 0
    for size, segment, state in parts:
        made.append({"address": address, "size": size, "segment": segment, "state": state})
        address += size
    return made


def drawn(blocks):
    """`#512 .1024`: used, free (.), waiting (~); a bar where a segment ends."""
    if type(blocks) is not list or not all(type(block) is dict and "state" in block for block in blocks):
        return ""
    marks, parts = {"used": "#", "free": ".", "waiting": "~"}, []
    for block, following in zip(blocks, [*blocks[1:], None]):
        parts.append(f"{marks.get(block['state'], '?')}{block.get('size')}")
        if following and following.get("segment") != block.get("segment"):
            parts.append("|")
    return "  ".join(parts) + "      # used  . free  ~ waiting  | another segment"


def check(yours, blocks, address, expected, why):
    got = yours.give_back(blocks, address)
    equal(got, expected, why, picture=drawn(got))


USED = (512, 0, "used")


@points(1, "between blocks in use nothing merges")
def test_alone(yours):
    blocks = blocks_of(USED, USED, USED)
    check(yours, blocks, 512, blocks_of(USED, (512, 0, "free"), USED), "both neighbours are in use")


@points(1, "the block before it")
def test_previous(yours):
    blocks = blocks_of((1024, 0, "free"), USED, USED)
    check(
        yours,
        blocks,
        1024,
        blocks_of((1536, 0, "free"), USED),
        "the block before it is free, too: they become one",
    )


@points(1, "the block after it")
def test_next(yours):
    blocks = blocks_of(USED, USED, (1024, 0, "free"))
    check(
        yours,
        blocks,
        512,
        blocks_of(USED, (1536, 0, "free")),
        "the block after it is free, too: they become one",
    )


@points(1, "a block of another segment")
def test_segments(yours):
    blocks = blocks_of(USED, (512, 1, "free"))
    why = "the neighbour belongs to another segment: the device has to get each back as it gave it"
    check(yours, blocks, 0, blocks_of((512, 0, "free"), (512, 1, "free")), why)


@points(1, "a block that waits for a stream")
def test_waiting(yours):
    blocks = blocks_of(USED, (512, 0, "waiting"))
    why = "the neighbour waits for another stream: it is not free yet"
    check(yours, blocks, 0, blocks_of((512, 0, "free"), (512, 0, "waiting")), why)


@points(1, "a whole segment")
def test_whole(yours):
    blocks = blocks_of((512, 0, "free"), (512, 1, "free"), (512, 1, "used"))
    equal(yours.is_whole_segment(blocks, 0), True, "nothing else lies in segment 0")
    equal(yours.is_whole_segment(blocks, 512), False, "segment 1 has a block in use")
    equal(yours.is_whole_segment(blocks_of(USED), 0), False, "the block is in use")


@points(1, "what was given is not changed")
def test_unchanged(yours):
    blocks = blocks_of((512, 0, "free"), USED)
    yours.give_back(blocks, 512)
    equal(
        blocks,
        blocks_of((512, 0, "free"), USED),
        "the list and its dicts belong to the caller",
        what="the list given",
    )


@points(1, "any order of giving back")
def test_any(yours, rng):
    sizes = [512 * rng.randint(1, 4) for _ in range(6)]
    blocks = blocks_of(*[(size, 0, "used") for size in sizes])
    addresses = [block["address"] for block in blocks]
    for address in rng.sample(addresses, 6):
        blocks = yours.give_back(blocks, address)
        ends = [block["address"] + block["size"] for block in blocks]
        equal(
            [block["address"] for block in blocks],
            [0, *ends[:-1]],
            "blocks lie side by side, without gaps",
            what="the addresses",
            picture=drawn(blocks),
        )
    equal(blocks, blocks_of((sum(sizes), 0, "free")), "everything was given back: one block is left")
