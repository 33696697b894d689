"""Grades round_sizes.py."""

from exercises.grading import equal, points

MIB = 1024 * 1024


@points(1, "no block is smaller than 512 bytes")
def test_smallest(yours):
    equal(yours.block_size(1), 512, "the smallest block has 512 bytes")
    equal(yours.block_size(511), 512, "the smallest block has 512 bytes")


@points(1, "blocks are multiples of 512 bytes")
def test_multiples(yours):
    equal(yours.block_size(513), 1024, "the next multiple of 512")
    equal(yours.block_size(1024), 1024, "a multiple of 512 stays what it is")
    equal(yours.block_size(512), 512, "a multiple of 512 stays what it is")


@points(1, "up to 1 MiB is small")
def test_pool(yours):
    equal(yours.pool(1), "small", "512 bytes")
    equal(yours.pool(MIB), "small", "1 MiB is still small: the rule is at most 1 MiB")
    equal(yours.pool(MIB + 1), "large", "the block has 1 MiB and 512 bytes")


@points(1, "small blocks live in segments of 2 MiB")
def test_small_segments(yours):
    equal(yours.segment_size(1), 2 * MIB, "many small blocks share a segment of 2 MiB")
    equal(yours.segment_size(MIB), 2 * MIB, "many small blocks share a segment of 2 MiB")


@points(1, "middling blocks live in segments of 20 MiB")
def test_middle(yours):
    equal(yours.segment_size(MIB + 1), 20 * MIB, "a large block below 10 MiB")
    equal(yours.segment_size(6 * MIB), 20 * MIB, "a large block below 10 MiB")
    equal(yours.segment_size(10 * MIB - 512), 20 * MIB, "10 MiB less 512 bytes is below 10 MiB")


@points(1, "a block of exactly 10 MiB")
def test_exactly_10_mib(yours):
    equal(yours.segment_size(10 * MIB), 10 * MIB, "10 MiB are not below 10 MiB: a segment of its own")


@points(1, "a request just below 10 MiB")
def test_just_below_10_mib(yours):
    why = "the request is below 10 MiB, but the block has 10 MiB, and the block decides"
    equal(yours.segment_size(10 * MIB - 511), 10 * MIB, why)


@points(1, "large segments are multiples of 2 MiB")
def test_large_segments(yours):
    equal(yours.segment_size(10 * MIB + 1), 12 * MIB, "from 10 MiB on: a multiple of 2 MiB")
    equal(yours.segment_size(21 * MIB), 22 * MIB, "from 10 MiB on: a multiple of 2 MiB")


@points(1, "any size")
def test_any(yours, rng):
    for _ in range(30):
        nbytes = rng.choice([rng.randint(1, 5000), rng.randint(1, 3 * MIB), rng.randint(MIB, 50 * MIB)])
        block = -(-nbytes // 512) * 512
        equal(yours.block_size(nbytes), block, "the next multiple of 512")
        equal(yours.pool(nbytes), "small" if block <= MIB else "large", f"the block has {block} bytes")
