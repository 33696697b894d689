"""Grades reducer.py."""

from exercises.grading import equal, holds, points


def passes(yours, buckets, orders, times=1):
    """A function for each rank: `times` passes, the gradient of parameter i is 10 * rank + i."""

    def function(comm):
        reducer = yours.Reducer(comm, buckets)
        for _ in range(times):
            for index in orders[comm.rank]:
                reducer.ready(index, 10.0 * comm.rank + index)
            averages = reducer.finish()
        return averages

    return function


@points(1, "gradients become averages")
def test_average(yours, ranks):
    results = ranks(2).run(passes(yours, [[1], [0]], [[1, 0], [1, 0]]))
    equal(
        results,
        [{1: 6.0, 0: 5.0}] * 2,
        "gradients 0 and 1 on rank 0, 10 and 11 on rank 1: the average of both ranks",
    )


@points(2, "buckets begin in their order on all ranks")
def test_order(yours, ranks):
    results = ranks(2).run(passes(yours, [[2, 3], [1], [0]], [[3, 2, 1, 0], [0, 1, 2, 3]]))
    equal(
        results[0],
        {2: 7.0, 3: 8.0, 1: 6.0, 0: 5.0},
        "the gradients become ready in another order on each rank",
    )


@points(1, "a bucket travels as soon as it is its turn")
def test_early(yours, ranks):
    def function(comm):
        reducer = yours.Reducer(comm, [[1], [0]])
        reducer.ready(1, 1.0)
        early = len(comm.log)
        reducer.ready(0, 1.0)
        reducer.finish()
        return early

    equal(
        ranks(2).run(function),
        [1, 1],
        "bucket 0 is full and can travel before the last gradient is there",
        what="all-reduces",
    )


@points(1, "a parameter without gradient does not hang the others")
def test_unused(yours, ranks):
    results = ranks(2).run(passes(yours, [[2, 1], [0]], [[2, 1, 0], [2, 0]]))
    holds(
        results[0] == results[1] == {2: 7.0, 1: 0.5, 0: 5.0},
        f"rank 1 has no gradient of parameter 1: its collective is made, with 0.0; you returned {results}",
    )


@points(1, "a second pass begins anew")
def test_second_pass(yours, ranks):
    def function(comm):
        reducer = yours.Reducer(comm, [[1], [0]])
        averages = []
        for grads in ({1: 2.0, 0: 4.0}, {1: 6.0}):
            for index, grad in grads.items():
                reducer.ready(index, grad)
            averages.append(reducer.finish())
        return averages

    results = ranks(2).run(function)
    equal(results[0], [{1: 2.0, 0: 4.0}, {1: 6.0, 0: 0.0}], "parameter 0 gets no gradient in the second pass")
