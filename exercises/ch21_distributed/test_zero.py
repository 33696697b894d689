"""Grades zero.py."""

from exercises.grading import close, equal, points

SIZES = [5, 3, 8, 1, 4]


def flat(lists):
    return [number for numbers in lists for number in numbers]


def params():
    return [[float(i + k) for k in range(size)] for i, size in enumerate(SIZES)]


def grads(step):
    return [[0.5 * (i + step) - k for k in range(size)] for i, size in enumerate(SIZES)]


def plain(steps, lr=0.1, momentum=0.5):
    """Parameters and states of the undivided optimizer."""
    found, state = params(), [[0.0] * size for size in SIZES]
    for step in range(steps):
        for p, v, g in zip(found, state, grads(step), strict=True):
            v[:] = [momentum * old + new for old, new in zip(v, g, strict=True)]
            p[:] = [old - lr * one for old, one in zip(p, v, strict=True)]
    return found, state


def trained(yours, comm, steps):
    mine = params()
    optimizer = yours.ZeroMomentum(comm, mine, 0.1, 0.5)
    for step in range(steps):
        optimizer.step(grads(step))
    return mine, optimizer


@points(2, "the largest goes first, to the rank that has least")
def test_partition(yours):
    equal(
        yours.partition(SIZES, 2),
        [1, 0, 0, 1, 1],
        "sizes 5, 3, 8, 1, 4 on two ranks, the largest first: rank 0 gets 8 and 3, rank 1 gets 5, 4 and 1",
    )


@points(1, "equal parameters in their order, to the lowest rank")
def test_ties(yours):
    equal(yours.partition([1, 1, 1], 3), [0, 1, 2], "equal sizes are given in their order")
    equal(yours.partition([2, 2, 2], 2), [0, 1, 0], "of ranks that have equally much, the lowest")


@points(2, "after each step all ranks have the plain optimizer's parameters")
def test_step(yours, ranks):
    results = ranks(2).run(lambda comm: trained(yours, comm, 3)[0])
    for rank, found in enumerate(results):
        close(
            flat(found),
            flat(plain(3)[0]),
            f"rank {rank} after three steps: all ranks have all the parameters",
        )


@points(1, "a rank keeps its own state only")
def test_memory(yours, ranks):
    results = ranks(2).run(lambda comm: sorted(trained(yours, comm, 1)[1].state))
    equal(results, [[1, 2], [0, 3, 4]], "indices in `state`: a rank keeps v of its own parameters only")


@points(1, "the saved state is whole")
def test_consolidate(yours, ranks):
    results = ranks(2).run(lambda comm: trained(yours, comm, 2)[1].consolidate())
    state = plain(2)[1]
    for rank, whole in enumerate(results):
        equal(
            sorted(whole),
            [0, 1, 2, 3, 4],
            f"rank {rank}: the whole state has v of every parameter",
            what="indices",
        )
        close(flat([whole[i] for i in range(5)]), flat(state), f"rank {rank}: the whole state")
