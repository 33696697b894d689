"""Grades ordered_loader.py."""

import itertools

from exercises.grading import equal, holds, points, raises


class Pool:
    """Workers that finish in the order of their times. fail: who fails; dies: where one dies; results: of tasks."""

    def __init__(self, workers, times=None, fail=(), dies=None, results=None):
        self.workers, self.times, self.fail, self.dies = workers, times or {}, fail, dies
        self.results = results or {}
        self.log, self.free, self.done, self.calls = [], [0.0] * workers, [], 0

    def send(self, worker, number, task):
        self.log.append((worker, number, task))
        self.free[worker] += self.times.get(number, 1)
        self.done.append((self.free[worker], number, task))

    def receive(self):
        self.calls += 1
        holds(
            self.calls < 60,
            "nothing comes from a dead worker: waiting on, the loop would stand still for ever",
            what="receive() was called 60 times",
        )
        self.done.sort()
        if not self.done or self.done[0][2] == self.dies:
            return None
        _, number, task = self.done.pop(0)
        if task in self.fail:
            return number, ValueError(f"task {task}")
        return number, self.results.get(task, f"batch {task}")


def given(yours, pool, tasks, prefetch=2):
    return list(yours.OrderedIterator(pool, tasks, prefetch))


def outcome(iterator):
    """The next result, or the error's text."""
    try:
        return next(iterator)
    except ValueError as error:
        return f"ValueError: {error}"


@points(1, "all results, with workers of one speed")
def test_all(yours):
    got = given(yours, Pool(2), "abcde")
    equal(got, [f"batch {task}" for task in "abcde"], what="list(OrderedIterator(pool, 'abcde'))")
    equal(given(yours, Pool(3), ""), [], "no task, no result", what="list(OrderedIterator(pool, ''))")


@points(2, "in the order of the tasks, whoever is quicker")
def test_order(yours, rng):
    why = "worker 1 is quicker, and its results have to wait for their turn"
    slow = {0: 9, 2: 9}
    got = given(yours, Pool(2, slow), "abcd")
    equal(got, [f"batch {task}" for task in "abcd"], why, what="tasks a and c take 9 times as long")
    for _ in range(20):
        times = {k: rng.randint(1, 20) for k in range(12)}
        got = given(yours, Pool(rng.randint(1, 4), times), range(12))
        equal(got, [f"batch {task}" for task in range(12)], "the order of the tasks", what=f"times {times}")


@points(1, "round-robin")
def test_round_robin(yours):
    pool = Pool(3, {0: 5})
    given(yours, pool, range(7))
    equal(
        [(worker, number) for worker, number, _ in pool.log],
        [(k % 3, k) for k in range(7)],
        "task k goes to worker k modulo the number of workers",
        what="(worker, number) of every send",
    )


@points(2, "never more than prefetch * workers tasks out")
def test_prefetch(yours):
    pool = Pool(2)
    iterator = yours.OrderedIterator(pool, itertools.count(), 3)
    why = "the queues would fill the memory: deal prefetch * workers tasks, and one more per result"
    equal(len(pool.log), 6, why, what="tasks dealt before the first next()")
    for taken in range(1, 5):
        next(iterator)
        equal(len(pool.log), 6 + taken, why, what=f"tasks dealt after {taken} next()")
    pool = Pool(2, {0: 50})
    next(yours.OrderedIterator(pool, itertools.count(), 3))
    why = "worker 1 was done with all of its tasks; what has come is not yet given out"
    equal(len(pool.log), 7, why, what="tasks dealt after the first next(), where task 0 takes 50 times as long")


@points(1, "results that are empty")
def test_empty_results(yours):
    pool = Pool(2, results={"a": None, "b": [], "c": 0})
    why = "None and an empty list are results: whether one is there says the number, not its value"
    equal(given(yours, pool, "abc"), [None, [], 0], why, what="the results of workers that give None, [] and 0")


@points(1, "an error is raised when its turn comes")
def test_error(yours):
    iterator = yours.OrderedIterator(Pool(2, {0: 5}, fail="b"), "abc")
    why = "batch b failed before batch a was done, but a comes first"
    equal(outcome(iterator), "batch a", why, what="the first next(), where task b fails early")
    raises(ValueError, next, iterator, text="task b", why="the error of task b is raised in its place")
    equal(next(iterator), "batch c", "the loader goes on after it", what="the third next()")


@points(1, "a dead worker is noticed")
def test_death(yours):
    iterator = yours.OrderedIterator(Pool(2, dies="c"), "abcd")
    equal(next(iterator), "batch a", what="the first next()")
    equal(next(iterator), "batch b", what="the second next()")
    raises(RuntimeError, next, iterator, why="worker 0 died over task c: receive() returned None")
