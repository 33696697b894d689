"""Grades best_fit.py."""

from exercises.grading import equal, points

KIB, MIB = 1024, 1024 * 1024
FREE = [(0, 6 * MIB), (10 * MIB, 4 * MIB), (20 * MIB, 5 * MIB)]


@points(1, "nothing fits")
def test_nothing(yours):
    equal(yours.candidate([], 512), None, "no free block at all")
    equal(yours.candidate(FREE, 7 * MIB), None, "the largest has 6 MiB; two that add up do not help")
    equal(yours.malloc(FREE, 7 * MIB, False), None, "the largest has 6 MiB")


@points(1, "the smallest block that holds it")
def test_smallest(yours):
    equal(yours.candidate(FREE, 3 * MIB), (10 * MIB, 4 * MIB), "the smallest that holds it, not the first")
    equal(yours.candidate(FREE, 5 * MIB), (20 * MIB, 5 * MIB), "a block of just that size holds it")


@points(1, "among equal blocks the lowest address")
def test_ties(yours):
    free = [(4096, 1024), (8192, 1024), (16384, 1024)]
    equal(yours.candidate(free, 512), (4096, 1024), "of equal blocks the one with the lowest address")


@points(1, "when a small block is split")
def test_small_rule(yours):
    equal(yours.is_split(2048, 1536, True), True, "512 bytes left are enough in the small pool: at least 512")
    equal(yours.is_split(1536, 1536, True), False, "nothing is left")
    equal(yours.is_split(2 * MIB, 512, True), True, "nearly all of it is left")


@points(1, "when a large block is split")
def test_large_rule(yours):
    equal(yours.is_split(22 * MIB, 21 * MIB, False), False, "1 MiB is left, and it has to be more than 1 MiB")
    equal(yours.is_split(22 * MIB, 21 * MIB - 512, False), True, "1 MiB and 512 bytes are left")
    equal(yours.is_split(4 * MIB, 4 * MIB - 512, False), False, "512 bytes are not more than 1 MiB")


@points(1, "the head is handed out, the tail stays free")
def test_head(yours):
    why = "the head is handed out, the tail stays free"
    equal(yours.malloc([(0, 20 * MIB)], 6 * MIB, False), (0, 6 * MIB, [(6 * MIB, 14 * MIB)]), why)
    equal(yours.malloc([(512, 1024)], 512, True), (512, 512, [(1024, 512)]), why)


@points(1, "a block that is not split is handed out whole")
def test_whole(yours):
    why = "1 MiB is not worth a block of its own in the large pool: the whole block is taken"
    equal(
        yours.malloc([(0, 5 * MIB), (MIB * 9, 8 * MIB)], 4 * MIB, False),
        (0, 5 * MIB, [(9 * MIB, 8 * MIB)]),
        why,
    )


@points(1, "the list that was given is not changed")
def test_unchanged(yours):
    free = [(0, 4096), (8192, 1024)]
    yours.malloc(free, 512, True)
    equal(free, [(0, 4096), (8192, 1024)], "the list belongs to the caller", what="the list after malloc")
