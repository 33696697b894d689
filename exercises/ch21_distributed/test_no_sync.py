"""Grades no_sync.py."""

from exercises.grading import close, equal, points


def run(ranks, function, size=2):
    """What each rank returns, and what each did."""
    world = ranks(size)
    return world.run(function), world.log


@points(1, "without sync, gradients add up locally")
def test_local(yours, ranks):
    def function(comm):
        accumulator = yours.Accumulator(comm)
        accumulator.backward(1.0 + comm.rank, sync=False)
        accumulator.backward(10.0, sync=False)
        return accumulator.grad

    results, log = run(ranks, function)
    equal(results, [11.0, 12.0], "1 (rank 1: 2) adds up with 10, on each rank by itself")
    equal(log, [[], []], "no_sync sends nothing", what="collectives")


@points(2, "with sync, all that was accumulated is averaged")
def test_accumulated(yours, ranks):
    def function(comm):
        accumulator = yours.Accumulator(comm)
        accumulator.backward([1.0, 2.0][comm.rank], sync=False)
        accumulator.backward([10.0, 20.0][comm.rank])
        return accumulator.grad

    equal(
        run(ranks, function)[0],
        [16.5, 16.5],
        "1 and 10 on rank 0, 2 and 20 on rank 1: (11 + 22) / 2 = 16.5 on both",
    )


@points(2, "a step over micro-batches")
def test_step(yours, ranks):
    grads = [[0.5, 1.0, 1.5], [2.5, 3.0, 3.5]]
    results, _ = run(ranks, lambda comm: yours.train_step(yours.Accumulator(comm), grads[comm.rank]))
    close(
        results,
        [6.0, 6.0],
        "3.0 on rank 0 and 9.0 on rank 1; the losses were already divided by the number of batches",
    )


@points(1, "one all-reduce for a step")
def test_one_all_reduce(yours, ranks):
    _, log = run(ranks, lambda comm: yours.train_step(yours.Accumulator(comm), [1.0] * 4))
    equal(len(log[0]), 1, "four micro-batches and one step", what="all-reduces")


@points(1, "an average that is there already stays one")
def test_after_sync(yours, ranks):
    def function(comm):
        accumulator = yours.Accumulator(comm)
        accumulator.backward([2.0, 4.0][comm.rank])
        accumulator.backward([1.0, 3.0][comm.rank])
        return accumulator.grad

    equal(run(ranks, function)[0], [5.0, 5.0], "3, the average of the first pass, and 2, that of the second")
