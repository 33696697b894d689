"""Grades channels_last.py."""

from exercises.grading import equal, points

NCHW = ["N", "C", "H", "W"]


@points(1, "channels_last: the channels of one pixel lie together")
def test_channels_last(yours):
    why = (
        "from outermost to innermost memory holds N, H, W, C; the strides are written in the order N, C, H, W"
    )
    equal(yours.channels_last_strides((2, 3, 4, 5)), (60, 1, 15, 3), why, names=NCHW)


@points(1, "channels_last with one channel, or one pixel")
def test_one_channel(yours):
    why = (
        "the rule has no exceptions: to(memory_format=torch.channels_last) writes these strides for C = 1 too"
    )
    equal(yours.channels_last_strides((2, 1, 4, 4)), (16, 1, 4, 1), why, names=NCHW)
    equal(yours.channels_last_strides((2, 3, 1, 1)), (3, 1, 3, 3), why, names=NCHW)


@points(1, "clone keeps the strides of a dense tensor")
def test_clone_keeps_dense(yours):
    equal(
        yours.clone_strides((3, 2), (1, 3)), (1, 3), "a transposed matrix is dense: clone keeps its strides"
    )
    equal(
        yours.clone_strides((2, 3, 4, 5), (60, 1, 15, 3)),
        (60, 1, 15, 3),
        "channels_last is dense",
        names=NCHW,
    )
    equal(
        yours.clone_strides((2, 1), (1, 9)),
        (1, 9),
        "the stride of a dimension of size 1 is never used: dense",
    )


@points(2, "clone closes gaps, and keeps the order of the dimensions")
def test_clone_closes_gaps(yours):
    equal(yours.clone_strides((3, 2), (4, 2)), (2, 1), "x[:, ::2] has gaps: the clone has none")
    equal(yours.clone_strides((3, 4), (1, 5)), (1, 3), "gaps, and dimension 0 is the innermost: it stays so")


@points(1, "any order of dimensions")
def test_any(yours, rng):
    for _ in range(30):
        count = rng.randint(2, 4)
        sizes = [rng.randint(2, 4) for _ in range(count)]
        dense, strides, step, gap = [0] * count, [0] * count, 1, rng.choice([1, 2])
        for dim in rng.sample(range(count), count):
            dense[dim], strides[dim] = step, step * gap
            step *= sizes[dim]
        why = "dense strides, in the order of dimensions that the tensor has"
        equal(yours.clone_strides(tuple(sizes), tuple(strides)), tuple(dense), why)
