"""Grades vector_add.py."""

import numpy as np

from exercises.grading import close, holds, points
from exercises.grading.gpu import launch

POISON = np.float32(np.nan)


def check(yours, size, blocks, threads, why):
    x, y = np.random.default_rng(size).standard_normal((2, size)).astype(np.float32)
    out = np.full(size, POISON)
    log = launch(yours.add, blocks, threads, out, x, y)
    close(out, x + y, why, what=f"add[{blocks}, {threads}] of {size} elements", tolerance=1e-6)
    return log


@points(1, "one block, a thread for each element")
def test_one_block(yours):
    check(yours, 4, 1, 4, "thread i does element i; NaN: nobody did")


@points(1, "the last element is done")
def test_last_element(yours):
    check(yours, 1, 1, 2, "the last element (here the only one) is also one")


@points(1, "several blocks")
def test_several_blocks(yours):
    check(yours, 12, 3, 4, "the blocks share the work: a block's number says where its part begins")


@points(1, "one thread more than there are elements")
def test_one_element_too_few(yours):
    check(yours, 7, 2, 4, "the last thread has nothing to do")


@points(1, "many more threads than elements")
def test_more_threads_than_elements(yours):
    check(yours, 5, 3, 4, "threads without an element do nothing")


@points(1, "each thread does an element of its own")
def test_each_thread_its_own(yours):
    log = check(yours, 6, 2, 3, "six threads, six elements")
    by = [(block.x * 3 + thread.x, *place) for _, block, thread, place in log]
    why = "six threads of two blocks have six elements to do: one each, thread i of all of them element i"
    holds(all(i == place for i, place in by), why, got=f"(thread, element): {by}")


@points(1, "no elements")
def test_nothing(yours):
    check(yours, 0, 1, 2, "there is nothing to do")
