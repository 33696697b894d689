"""Loops split between threads: coverage, exceptions, nesting, forks."""

import multiprocessing
import os
import threading

import numpy as np
import pytest

from teachtorch.kernels import parallel
from tests.kernels.threads import in_threads


@pytest.fixture(autouse=True)
def two_threads():
    before = parallel.get_num_threads()
    parallel.set_num_threads(2)
    yield
    parallel.set_num_threads(before)


@pytest.mark.parametrize("total", [0, 1, 7, 100, 1001])
@pytest.mark.parametrize("grain", [1, 10, 1000])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_index_is_visited_once(total, grain, threads):
    parallel.set_num_threads(threads)
    visits = np.zeros(total, int)

    def body(begin, end):
        visits[begin:end] += 1
    parallel.parallel_for(total, grain, body)
    assert (visits == 1).all()


@pytest.mark.parametrize("total", [50, 99])
def test_a_loop_below_two_grains_runs_as_one_range_in_the_calling_thread(total):
    ranges = []
    parallel.parallel_for(total, 50, lambda begin, end: ranges.append((begin, end, threading.current_thread())))
    assert ranges == [(0, total, threading.current_thread())]


def test_two_bodies_run_at_the_same_time():
    meeting = threading.Barrier(2, timeout=30)
    parallel.parallel_for(2, 1, lambda begin, end: meeting.wait())  # alone, the first would wait in vain


def test_an_exception_reaches_the_caller_and_the_pool_lives_on():
    def body(begin, end):
        raise ZeroDivisionError("from a body")
    with pytest.raises(ZeroDivisionError, match="from a body"):
        parallel.parallel_for(10, 1, body)
    test_every_index_is_visited_once(100, 1, 2)


def test_a_loop_inside_a_body_runs_on_that_body_s_thread():
    pairs = []

    def outer(begin, end):
        me = threading.current_thread()
        parallel.parallel_for(10, 1, lambda b, e: pairs.append((me, threading.current_thread())))
    parallel.parallel_for(4, 1, outer)
    assert pairs and all(mine is theirs for mine, theirs in pairs)


def test_two_python_threads_run_loops_at_once():
    def work():
        for _ in range(50):
            test_every_index_is_visited_once(100, 1, 2)

    in_threads(3, work)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_threads_of_its_own():
    parallel.parallel_for(10, 1, lambda begin, end: None)  # the parent's pool is running
    child = multiprocessing.get_context("fork").Process(target=test_two_bodies_run_at_the_same_time)
    child.start()
    child.join(60)
    assert child.exitcode == 0


def test_the_number_of_threads_must_be_positive():
    with pytest.raises(RuntimeError, match="positive"):
        parallel.set_num_threads(0)
