"""Grades join_zero.py."""

from exercises.grading import close, equal, holds, points

SHORT, LONG = [2.0, 4.0], [2.0, 4.0, 6.0, 10.0]


def run(ranks, yours, *inputs):
    """(params, grads, v, seen) of each rank at the end, and what each rank did."""

    def function(comm):
        ddp, zero = yours.train(comm, inputs[comm.rank])
        return list(ddp.params), list(ddp.grads), dict(zero.v), ddp.seen

    world = ranks(len(inputs))
    return world.run(function), world.log


def plain(*inputs, lr=0.5, momentum=0.5):
    """(params, v) of undivided momentum SGD on the averages, where a rank without inputs counts as zero."""
    params, v = [0.0] * 3, [0.0] * 3
    for i in range(max(map(len, inputs))):
        mean = sum(each[i] for each in inputs if i < len(each)) / len(inputs)
        v = [momentum * old + (k + 1) * mean for k, old in enumerate(v)]
        params = [p - lr * one for p, one in zip(params, v, strict=True)]
    return params, v


@points(1, "even inputs are plain training")
def test_even(yours, ranks):
    results, _ = run(ranks, yours, SHORT, SHORT)
    for rank, (params, *_) in enumerate(results):
        close(params, plain(SHORT, SHORT)[0], f"rank {rank}: inputs 2 and 4 on both ranks", what="params")


@points(1, "one count in an iteration")
def test_one_count(yours, ranks):
    _, logs = run(ranks, yours, SHORT, SHORT)
    counts = [sum(entry == ("all_reduce", 1) for entry in log) for log in logs]
    holds(
        counts[0] in (3, 4),
        "two iterations, and once at the end: three all-reduces of one number (a fourth one may find the "
        "last rank); of two joinables only the first notifies",
        got=str(counts[0]),
        what="all-reduces of one number",
    )


@points(2, "nobody hangs")
def test_nobody_hangs(yours, ranks):
    run(ranks, yours, SHORT, LONG)
    run(ranks, yours, [2.0], [], LONG)


@points(1, "a finished rank has the others' averages")
def test_averages(yours, ranks):
    results, _ = run(ranks, yours, SHORT, LONG)
    close(
        results[0][1],
        [5.0, 10.0, 15.0],
        "rank 0 is done after two iterations; in the fourth one rank 1 alone has 10, 20 and 30, the average "
        "over both ranks is 5, 10 and 15, and rank 0 needs it for the parameters that it owns",
        what="rank 0's grads",
    )


@points(2, "a finished rank goes on with the parameters that it owns")
def test_shard(yours, ranks):
    results, _ = run(ranks, yours, SHORT, LONG)
    params, v = plain(SHORT, LONG)
    close(
        [results[0][2][0], results[0][2][2]],
        [v[0], v[2]],
        "rank 0 owns v of parameters 0 and 2; after its own two iterations it must go on for two more",
        what="rank 0's v",
    )
    close(results[1][0], params, "rank 1 waits for rank 0's parameters in every step", what="rank 1's params")


@points(1, "in the end all have the state of the last at work")
def test_last(yours, ranks):
    results, _ = run(ranks, yours, SHORT, LONG)
    equal(
        [seen for *_, seen in results],
        [4, 4],
        "rank 1 was the last at work, and has seen four inputs: that is everyone's buffer in the end",
        what="seen",
    )


@points(1, "the last at work is not always the highest rank")
def test_last_is_found(yours, ranks):
    results, _ = run(ranks, yours, LONG, SHORT)
    equal([seen for *_, seen in results], [4, 4], "rank 0 was the last at work", what="seen")
    results, _ = run(ranks, yours, SHORT, SHORT, [2.0])
    equal([seen for *_, seen in results], [2, 2, 2], "ranks 0 and 1 were the last at work", what="seen")
