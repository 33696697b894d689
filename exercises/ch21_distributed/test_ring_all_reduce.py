"""Grades ring_all_reduce.py."""

from exercises.grading import equal, holds, points


def run(ranks, yours, lists):
    """What each rank returns, and what each did."""
    world = ranks(len(lists))
    return world.run(lambda comm: yours.ring_all_reduce(comm, lists[comm.rank])), world.log


@points(2, "no rank waits for ever")
def test_no_deadlock(yours, ranks):
    run(ranks, yours, [[1, 2], [3, 4]])
    run(ranks, yours, [[1, 2, 3]] * 3)


@points(2, "every rank has the sums")
def test_sums(yours, ranks):
    equal(run(ranks, yours, [[1, 2], [10, 20]])[0], [[11, 22]] * 2, "two ranks with [1, 2] and [10, 20]")
    equal(
        run(ranks, yours, [[1, 2, 3], [10, 20, 30], [100, 200, 300]])[0],
        [[111, 222, 333]] * 3,
        "three ranks, three numbers",
    )


@points(1, "parts of different lengths")
def test_uneven(yours, ranks, rng):
    lists = [[rng.randrange(100) for _ in range(7)] for _ in range(4)]
    sums = [sum(column) for column in zip(*lists, strict=True)]
    equal(
        run(ranks, yours, lists)[0],
        [sums] * 4,
        f"four ranks, seven numbers, whose parts differ in length: {lists}",
    )
    equal(run(ranks, yours, [[1], [2], [3]])[0], [[6]] * 3, "three ranks and one number: two parts are empty")


@points(1, "one rank alone has its list")
def test_alone(yours, ranks):
    equal(run(ranks, yours, [[5, 6]])[0], [[5, 6]], "one rank alone")


@points(2, "each rank sends 2 (N - 1) parts to its neighbour, and nothing else")
def test_traffic(yours, ranks):
    _, logs = run(ranks, yours, [list(range(8))] * 4)
    for rank, log in enumerate(logs):
        holds(
            all(entry[0] == "send" and entry[1] == (rank + 1) % 4 for entry in log),
            f"rank {rank} speaks with its neighbour only; it did {log}",
        )
        equal(
            sum(entry[2] for entry in log),
            12,
            "4 ranks, 8 numbers, parts of 2: 2 * 3 messages",
            what="numbers sent",
        )
