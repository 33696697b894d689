"""Grades find_unused.py."""

from exercises.grading import equal, points


def run(ranks, yours, grads, used):
    return ranks(len(grads)).run(lambda comm: yours.average_used(comm, grads[comm.rank], used[comm.rank]))


@points(1, "parameters that all use are averaged")
def test_all_used(yours, ranks):
    equal(
        run(ranks, yours, [[1.0, 2.0], [3.0, 6.0]], [[True, True]] * 2),
        [[2.0, 4.0]] * 2,
        "two parameters, used on both ranks",
    )


@points(1, "all ranks make the same collectives")
def test_same_collectives(yours, ranks):
    run(ranks, yours, [[1.0, None], [3.0, 6.0]], [[True, False], [True, True]])


@points(2, "one rank's use counts for all")
def test_used_elsewhere(yours, ranks):
    equal(
        run(ranks, yours, [[1.0, None], [1.0, 1.0]], [[True, False], [True, True]]),
        [[1.0, 0.5]] * 2,
        "rank 0 has not used the second parameter; somebody has used it on another rank, "
        "so it gets the average over all ranks",
    )


@points(1, "what nobody has used stays as it was")
def test_unused_everywhere(yours, ranks):
    equal(
        run(ranks, yours, [[1.0, None], [3.0, None]], [[True, False]] * 2),
        [[2.0, None]] * 2,
        "nobody has used the second parameter: its grad stays None, and the optimizer leaves it alone",
    )
    equal(
        run(ranks, yours, [[7.0], [5.0]], [[False]] * 2),
        [[7.0], [5.0]],
        "nobody has used it in this pass; what accumulated before stays",
    )


@points(1, "what backward reaches")
def test_reached(yours):
    a, b, c = ("a", []), ("b", []), ("c", [])
    hidden = ("mul", [a, b])
    equal(yours.is_used([("add", [hidden, a])]), {"a", "b"}, "c is not behind the output")
    equal(yours.is_used([hidden, c]), {"a", "b", "c"}, "two outputs, one of them a parameter")


@points(1, "a node is visited once")
def test_walk(yours):
    reads = []

    class Sources(list):
        def __iter__(self):
            reads.append(1)
            return super().__iter__()

    node = ("w", [])
    for depth in range(12):
        node = (f"add{depth}", Sources([node, node]))
    equal(yours.is_used([node]), {"w"}, "twelve sums of a node with itself")
    equal(len(reads) <= 24, True, "4096 ways lead to w, through 12 nodes: visit each node once")
