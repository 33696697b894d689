"""Grades sharding.py."""

import itertools

from exercises.grading import equal, points


def taken(yours, count, workers):
    """What each worker yields."""
    return [list(yours.shard(range(count), (k, workers))) for k in range(workers)]


@points(1, "without workers, everything")
def test_alone(yours):
    equal(list(yours.shard("abc", None)), ["a", "b", "c"], "info is None in the main process")
    equal(yours.share(7, None), 7, "all of it")


@points(2, "each sample once")
def test_once(yours, rng):
    equal(taken(yours, 5, 2), [[0, 2, 4], [1, 3]], "worker k begins at sample k: else each comes twice")
    for _ in range(20):
        count, workers = rng.randint(0, 20), rng.randint(1, 5)
        got = sorted(itertools.chain(*taken(yours, count, workers)))
        equal(
            got,
            list(range(count)),
            "no sample twice, none left out",
            what=f"{count} samples, {workers} workers",
        )


@points(2, "a stream that never ends")
def test_endless(yours):
    got = list(itertools.islice(yours.shard(itertools.count(), (1, 3)), 4))
    equal(
        got,
        [1, 4, 7, 10],
        "it has no length, and no end: take one by one",
        what="4 samples of shard(count(), (1, 3))",
    )
    seen = []
    stream = (seen.append(k) or k for k in itertools.count())
    shard = iter(yours.shard(stream, (0, 2)))
    next(shard)
    equal(seen, [0], "only what is asked for is read", what="samples read for the first one of worker 0")


@points(1, "shares of unequal size")
def test_share(yours):
    equal([yours.share(5, (k, 2)) for k in range(2)], [3, 2], "the remainder goes to the first workers")
    equal([yours.share(2, (k, 4)) for k in range(4)], [1, 1, 0, 0], "some workers may have nothing")


@points(2, "the number of batches")
def test_batches(yours):
    equal(yours.batches(10, 4, 0), 3, "4 + 4 + 2 samples")
    equal(yours.batches(8, 4, 0), 2, "4 + 4 samples, and no empty batch")
    why = "worker 0 has 5 samples, worker 1 has 5: each makes a batch of 4 and one of 1; len(loader) says 3"
    equal(yours.batches(10, 4, 2), 4, why)
    equal(yours.batches(4, 2, 4), 4, "four workers with a sample each make four batches")
    equal(yours.batches(2, 2, 4), 2, "two of the four workers have nothing, and make no batch")


@points(1, "drop_last, for each worker")
def test_drop_last(yours):
    equal(yours.batches(10, 4, 2, True), 2, "each worker drops its own last batch")
    equal(yours.batches(4, 2, 4, True), 0, "nobody has a full batch: everything is dropped")
    equal(yours.batches(10, 4, 0, True), 2, "without workers as usual")
