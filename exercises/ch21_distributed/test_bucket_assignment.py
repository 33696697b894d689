"""Grades bucket_assignment.py."""

from exercises.grading import equal, points


@points(1, "buckets travel from the last layer to the first")
def test_order(yours):
    equal(
        yours.bucket_assignment([10] * 4, ["f"] * 4, [20]),
        [[2, 3], [0, 1]],
        "four parameters of 10 bytes, limit 20: gradients become ready from the last layer to the first",
    )


@points(1, "a parameter is added first, then the bucket closes")
def test_added_first(yours):
    equal(
        yours.bucket_assignment([15, 15, 15], ["f"] * 3, [20]),
        [[2], [0, 1]],
        "15, 15 and 15 bytes, limit 20: the second one is added first, and the bucket of 30 bytes is closed "
        "then",
    )
    equal(
        yours.bucket_assignment([100, 1, 1], ["f"] * 3, [20]),
        [[1, 2], [0]],
        "a large parameter closes its bucket alone",
    )


@points(1, "the first bucket is small, the next ones have the next limit")
def test_limits(yours):
    equal(
        yours.bucket_assignment([5] * 6, ["f"] * 6, [5, 10]),
        [[5], [3, 4], [1, 2], [0]],
        "six of 5 bytes, limits 5 and 10: after the first bucket the next limit holds, and then the last one",
    )


@points(1, "every parameter is in one bucket")
def test_all(yours):
    buckets = yours.bucket_assignment([3, 9, 1, 4, 4], ["f", "d", "f", "f", "d"], [4, 8])
    equal(
        sorted(i for bucket in buckets for i in bucket),
        [0, 1, 2, 3, 4],
        "five parameters, two dtypes",
        what="indices",
    )


@points(1, "each dtype has its own buckets")
def test_dtypes(yours):
    equal(
        yours.bucket_assignment([5] * 4, ["f", "d", "f", "d"], [10]),
        [[1, 3], [0, 2]],
        "a bucket is one flat tensor, which has one dtype",
    )
    equal(
        yours.bucket_assignment([5, 5, 5, 5], ["f", "d", "f", "f"], [5, 10]),
        [[2, 3], [1], [0]],
        "each dtype goes through the limits by itself; a bucket is one flat tensor",
    )


@points(2, "PyTorch's own cases")
def test_golden(yours):
    mib = 2**20
    limits = [mib, 25 * mib]
    for sizes, expected in (
        ([4 * mib] * 20, [[15, 16, 17, 18, 19], [8, 9, 10, 11, 12, 13, 14], [1, 2, 3, 4, 5, 6, 7], [0]]),
        ([30 * mib, 1, 1], [[1, 2], [0]]),
        ([mib // 2, mib // 2 - 1, 2, 24 * mib, 2 * mib], [[3, 4], [0, 1, 2]]),
    ):
        equal(
            yours.bucket_assignment(sizes, ["f"] * len(sizes), limits),
            expected,
            f"sizes {sizes}, limits 1 and 25 MiB",
        )
