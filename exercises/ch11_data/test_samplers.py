"""Grades samplers.py."""

import random

from exercises.grading import equal, points


def permutation(seed, count):
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


def ranks(function, count, replicas, *rest):
    return [function(count, replicas, rank, *rest) for rank in range(replicas)]


@points(1, "batches, the last one shorter")
def test_batches(yours):
    equal(yours.batches([5, 3, 1, 4, 2], 2, False), [[5, 3], [1, 4], [2]], "in their order")
    equal(yours.batches([1, 2, 3, 4], 2, False), [[1, 2], [3, 4]], "nothing is left")
    equal(yours.batches([], 2, False), [], "no index, no batch")


@points(1, "drop_last of batches")
def test_batches_dropped(yours):
    equal(yours.batches([5, 3, 1, 4, 2], 2, True), [[5, 3], [1, 4]], "the incomplete one is left out")
    equal(yours.batches([1, 2, 3, 4], 2, True), [[1, 2], [3, 4]], "a full last batch stays")


@points(1, "every replicas-th index")
def test_ranks(yours):
    why = "rank r takes r, r + 2, ...: not one half and the other half"
    equal(
        ranks(yours.distributed, 6, 2),
        [[0, 2, 4], [1, 3, 5]],
        why,
        what="distributed(6, 2, rank) of both ranks",
    )


@points(2, "filled up from the beginning")
def test_padding(yours):
    why = "rank 1 would have one less and the collective calls of rank 0 would wait: index 0 comes again"
    equal(
        ranks(yours.distributed, 5, 2),
        [[0, 2, 4], [1, 3, 0]],
        why,
        what="distributed(5, 2, rank) of both ranks",
    )
    why = "two indices for five ranks: they are repeated more than once"
    equal(
        ranks(yours.distributed, 2, 5),
        [[0], [1], [0], [1], [0]],
        why,
        what="distributed(2, 5, rank) of all ranks",
    )


@points(1, "cut with drop_last")
def test_cut(yours):
    equal(
        ranks(yours.distributed, 5, 2, True),
        [[0, 2], [1, 3]],
        "index 4 is left out",
        what="distributed(5, 2, rank, True)",
    )
    equal(
        ranks(yours.distributed, 6, 3, True),
        [[0, 3], [1, 4], [2, 5]],
        "nothing to cut",
        what="distributed(6, 3, rank, True)",
    )


@points(1, "all ranks shuffle alike")
def test_shuffled(yours):
    order = permutation(7, 5)
    got = ranks(yours.shuffled, 5, 2, permutation, 7, 0)
    padded = [*order, order[0]]
    why = f"all ranks share the order {order} of seed 7; each takes its part of it"
    equal(
        got, [padded[0::2], padded[1::2]], why, what="shuffled(5, 2, rank, permutation, 7, 0) of both ranks"
    )


@points(2, "every epoch another order")
def test_epochs(yours):
    got = [yours.shuffled(8, 1, 0, permutation, 7, epoch) for epoch in range(3)]
    why = (
        "the seed of an epoch is seed + epoch; a forgotten set_epoch gives each epoch the order of the first"
    )
    equal(got, [permutation(7 + epoch, 8) for epoch in range(3)], why, what="three epochs of one rank")
