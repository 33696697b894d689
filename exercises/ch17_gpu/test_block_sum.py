"""Grades block_sum.py."""

import numpy as np

from exercises.grading import close, holds, points
from exercises.grading.gpu import launch


def check(yours, size, why, order="up", is_strict=True):
    threads = yours.THREADS
    blocks = -(-size // threads)
    x = np.random.default_rng(size).integers(1, 9, size).astype(np.float32)
    out = np.full(blocks, np.float32(np.nan))
    log = launch(yours.block_sum, blocks, threads, out, x, order=order, is_strict=is_strict)
    parts = [x[b * threads : (b + 1) * threads].sum() for b in range(blocks)]
    close(out, np.array(parts, np.float32), why, what=f"block_sum of {size} elements", tolerance=1e-6)
    return log


@points(1, "the sum, if all goes well")
def test_last_thread_first(yours):
    check(yours, 16, "out[b] is the sum of block b's elements", "down", is_strict=False)


@points(1, "the tree, with the threads from first to last")
def test_two_levels(yours):
    check(yours, 8, "each level of the tree reads what the level before wrote")


@points(1, "every thread comes to every barrier")
def test_barriers(yours):
    check(yours, 8, "a barrier is for all threads of the block", "down")


@points(1, "whichever thread runs first")
def test_whichever_thread_runs_first(yours):
    for seed in range(3):
        check(yours, 16, "threads run in any order", np.random.default_rng(seed))


@points(1, "a size that is no multiple of the block's")
def test_odd_size(yours):
    check(yours, 13, "a thread without an element counts as 0; NaN: it left shared memory as it found it")


@points(1, "the threads share the reading and the adding")
def test_threads_share(yours):
    log = check(yours, 8, "each thread brings one element")
    most = max(sum(each[2] is thread for each in log.reads) for thread in {each[2] for each in log.reads})
    why = "a thread reads its element, and at each of the tree's three levels two numbers at most: not all of x"
    holds(most <= 8, why, got=f"one thread read {most} numbers")
    readers = {each[2] for each in log.reads if each[0] == "x"}
    holds(len(readers) == 8, "each thread brings one element of x", got=f"{len(readers)} threads read x")


@points(1, "one element")
def test_one_element(yours):
    check(yours, 1, "the other threads count as 0")
