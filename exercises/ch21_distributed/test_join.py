"""Grades join.py."""

from exercises.grading import close, points

SHORT, LONG = [1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0, 5.0]


def run(ranks, yours, inputs, **options):
    return ranks(len(inputs)).run(lambda comm: yours.train(comm, inputs[comm.rank], 1.0, **options))


@points(1, "even inputs are plain training")
def test_even(yours, ranks):
    results = run(ranks, yours, [[1.0, 2.0], [3.0, 4.0]])
    for rank, (grads, weight) in enumerate(results):
        close(grads, [2.0, 3.0], f"rank {rank}: inputs 1, 2 and 3, 4, lr 1")
        close(weight, -5.0, f"rank {rank}: inputs 1, 2 and 3, 4, lr 1", what="weight")


@points(2, "nobody hangs")
def test_nobody_hangs(yours, ranks):
    run(ranks, yours, [SHORT, LONG])
    run(ranks, yours, [[1.0], [], [1.0, 2.0]])


@points(1, "the average over all ranks")
def test_divides_by_all(yours, ranks):
    results = run(ranks, yours, [SHORT, LONG])
    close(
        results[1][0],
        [1.0, 2.0, 3.0, 2.0, 2.5],
        "divided by all ranks always: rank 1's gradients are 1, 2, 3, 2, 2.5",
    )


@points(1, "or over those at work")
def test_divides_by_active(yours, ranks):
    results = run(ranks, yours, [SHORT, LONG], divide_by_initial_world_size=False)
    close(
        results[1][0],
        [1.0, 2.0, 3.0, 4.0, 5.0],
        "divided by the ranks at work: rank 1 alone gets its own gradients, 4 and 5",
    )


@points(2, "the last at work has the final weight")
def test_final_weight(yours, ranks):
    close(
        [w for _, w in run(ranks, yours, [SHORT, LONG])],
        [-10.5] * 2,
        "rank 1 was the last at work, its weight is everyone's: -(1 + 2 + 3 + 2 + 2.5)",
    )
    close([w for _, w in run(ranks, yours, [LONG, SHORT])], [-10.5] * 2, "rank 0 was the last at work")
