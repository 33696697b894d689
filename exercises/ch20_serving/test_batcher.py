"""Grades batcher.py."""

import teachtorch as torch

from exercises.grading import array_of, equal, points


@points(1, "a full batch starts at once")
def test_starts_full(yours):
    equal(yours.plan([0, 1, 2], 3, 10, 5), [(2, [0, 1, 2])], "with three of three a batch does not wait for max_wait")


@points(1, "a batch that does not fill up starts when its first request has waited long enough")
def test_timeout(yours):
    equal(yours.plan([0, 8], 3, 10, 5), [(10, [0, 1])], "at 10 the first one has waited for 10")
    equal(yours.plan([0, 10], 3, 10, 5), [(10, [0, 1])], "who arrives at the very moment of the start is still part of it")


@points(1, "no more than max_batch")
def test_full(yours):
    equal(yours.plan([0, 0, 0, 0, 0], 2, 1, 3), [(0, [0, 1]), (3, [2, 3]), (6, [4])],
          "at most 2 in a batch; the last has waited for more than 1 when the server is free")


@points(1, "one batch at a time")
def test_busy(yours):
    equal(yours.plan([0, 1, 2, 3], 2, 10, 20), [(1, [0, 1]), (21, [2, 3])], "one batch at a time: until 21 the server is busy")


@points(1, "while the server is busy, more may join")
def test_join(yours):
    equal(yours.plan([0, 1, 2], 2, 0, 10), [(0, [0]), (10, [1, 2])], "2 arrives while the batch of 0 runs")


@points(1, "how long requests take")
def test_waits(yours):
    equal(yours.waits([0, 8], [(10, [0, 1])], 5), [15, 7], "both are answered at 15")


def check_start(arrivals, batch, free, max_batch, max_wait):
    """A batch starts as soon as it may, with all that wait then."""
    start, members = batch
    first = members[0]

    def may(time):
        waiting = sum(1 for arrival in arrivals[first:] if arrival <= time)
        return time >= free and waiting > 0 and (waiting >= max_batch or time - arrivals[first] >= max_wait)

    case = f"arrivals {arrivals}, max_batch {max_batch}, max_wait {max_wait}, the server is free at {free}"
    equal([may(start - 1), may(start)], [False, True], f"a batch starts as soon as it may: {case}",
          what=f"whether batch {members} may start [at {start - 1}, at {start}]")
    ready = [i for i in range(first, len(arrivals)) if arrivals[i] <= start][:max_batch]
    equal(members, ready, f"those that wait at {start}: {case}", what="the members of a batch")


@points(1, "no request is lost, none is answered twice")
def test_all(yours, rng):
    arrivals = sorted(rng.randint(0, 40) for _ in range(12))
    batches = yours.plan(arrivals, rng.randint(1, 4), rng.randint(0, 6), rng.randint(1, 6))
    equal([i for _, members in batches for i in members], list(range(12)), f"in order of arrival: {arrivals}")


@points(1, "any arrivals: each batch starts as soon as it may")
def test_any(yours, rng):
    for count in (1, 2, 3, 6, 12, 12):
        arrivals = sorted(rng.randint(0, 3 * count) for _ in range(count))
        max_batch, max_wait, duration = rng.randint(1, 4), rng.randint(0, 6), rng.randint(1, 6)
        batches, free = yours.plan(arrivals, max_batch, max_wait, duration), 0
        for batch in batches:
            check_start(arrivals, batch, free, max_batch, max_wait)
            free = batch[0] + duration
        ends = [start + duration for start, members in batches for _ in members]
        equal(yours.waits(arrivals, batches, duration), [end - arrival for end, arrival in zip(ends, arrivals)],
              "from the arrival to the end of its batch")


@points(1, "answers have their request's length")
def test_lengths(yours):
    found = yours.answer(lambda batch, mask: batch * 2, [torch.ones(1, 2), torch.ones(3, 2)])
    equal([tuple(t.shape) for t in found], [(1, 2), (3, 2)], "each answer has its own length: what was padded is cut off")


@points(2, "padding does not change an answer")
def test_mask(yours):
    def mean(batch, mask):
        weights = mask.unsqueeze(2).to(batch.dtype)
        return ((batch * weights).sum(1, keepdim=True) / weights.sum(1, keepdim=True)).expand_as(batch)
    requests = [torch.tensor([[4.0]]), torch.tensor([[1.0], [2.0], [3.0]])]
    seen = []

    def watched(batch, mask):
        seen.append([array_of(batch).tolist(), array_of(mask).tolist()])
        return mean(batch, mask)
    found = yours.answer(watched, requests)
    equal(len(seen), 1, "eight requests cost hardly more than one, if the model is called once", what="calls of the model")
    equal(seen[0], [[[[4.0], [0.0], [0.0]], [[1.0], [2.0], [3.0]]], [[True, False, False], [True, True, True]]],
          "zeros are the padding of the short request, and the mask says which rows are real", what="[batch, mask]")
    equal([array_of(t).tolist() for t in found], [[[4.0]], [[2.0], [2.0], [2.0]]],
          "the model takes a mean: the mask keeps the padding out of it")
