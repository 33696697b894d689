"""Splits a loop over a small pool of threads.

A body is called with half-open ranges that cover ``range(total)``. Numba kernels compiled with ``nogil``
release the interpreter lock, so two bodies really run at once. Numba's own ``parallel=True`` is not used:
with its workqueue layer two Python threads abort the process, with its OpenMP layer a forked child dies.

To wake a thread and to wait for its end takes about 50 microseconds: the system has to start a core that rests, and the
interpreter lock changes hands. The "grain" of a loop is what one thread does in that time; a loop of less than two
grains is done sooner alone. (OpenMP's threads, PyTorch's, do not rest between loops but spin, ready within one
microsecond; ours could not, since each needs the interpreter lock to begin.)
"""

import _thread
import itertools
import os
import queue
import threading

__all__ = ["get_num_threads", "parallel_for", "set_num_threads", "stay_on_this_thread"]

CHUNKS_PER_THREAD = 8  # of the smallest size: a thread that is interrupted leaves most of its share to the others


def chunks(total, threads, grain):
    """Ranges that cover ``range(total)``: large ones first, since each costs a hand-over, small ones at the end,
    so that the threads finish together ("guided" scheduling of OpenMP)."""
    smallest = max(-(-total // (threads * CHUNKS_PER_THREAD)), -(-grain // 2))
    begin, ranges = 0, []
    while begin < total:
        size = max((total - begin) // (2 * threads), smallest)
        ranges.append((begin, min(begin + size, total)))
        begin += size
    return ranges


class _Job:
    """One loop: threads take chunks from it until none is left.

    After a large loop the interpreter's own data is out of the caches, and every line here is slow: the two counters
    are iterators of C, whose `next` no other thread can cut in two, and the wait is one bare lock.
    """

    def __init__(self, ranges, body):
        self.body = body
        self.left = iter(ranges)
        self.finished = itertools.count(1)
        self.total = len(ranges)
        self.done = _thread.allocate_lock()
        self.done.acquire()
        self.error = None

    def work(self):
        """Run chunks until none is left; the thread that ends the last one opens `done`."""
        for begin, end in self.left:
            try:
                if self.error is None:
                    self.body(begin, end)
            except BaseException as error:
                self.error = self.error or error
            finally:
                if next(self.finished) == self.total:
                    self.done.release()


class _Pool:
    """Daemon threads that wait for jobs; the caller of a loop works too, so n threads need n - 1 of them."""

    def __init__(self):
        self.jobs = queue.SimpleQueue()
        self.lock = threading.Lock()
        self.size = 0

    def run(self, job, helpers):
        """Work on ``job`` in this thread and in ``helpers`` others, and wait until every chunk has run."""
        if self.size < helpers:
            self._grow(helpers)
        for _ in range(helpers):
            self.jobs.put(job)
        _run_serially(job.work)
        job.done.acquire()

    def _grow(self, size):
        with self.lock:
            while self.size < size:
                self.size += 1
                name = f"teachtorch-{self.size}"
                threading.Thread(target=self._serve, name=name, daemon=True).start()

    def _serve(self):
        while True:
            _run_serially(self.jobs.get().work)


class _Inside(threading.local):
    loop = False


def _available_cores():
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_inside = _Inside()
_pool = _Pool()
_num_threads = int(os.environ.get("TEACHTORCH_NUM_THREADS") or _available_cores())


def _run_serially(work):
    """Call ``work`` with the loops that it starts kept on this thread."""
    try:
        _inside.loop = True
        work()
    finally:
        _inside.loop = False


def stay_on_this_thread():
    """Run the loops that this thread starts on it alone, from now on."""
    _inside.loop = True


def _forget_pool():
    """A forked child has only the thread that forked: its pool starts afresh."""
    global _pool
    _pool = _Pool()
    _inside.loop = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def get_num_threads():
    """Return how many threads one loop may use (``torch.get_num_threads``)."""
    return _num_threads


def set_num_threads(num_threads):
    """Let one loop use ``num_threads`` threads, at least 1 (``torch.set_num_threads``)."""
    global _num_threads
    if not isinstance(num_threads, int):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(num_threads).__name__}")
    if num_threads < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _num_threads = int(num_threads)


def parallel_for(total, grain, body):
    """Call ``body(begin, end)`` on ranges that cover ``range(total)``, on a thread for each ``grain`` of it.

    Totals below two grains, and loops started inside another loop's body, run in the calling thread as one
    range. The first exception of a body is raised here, once all running bodies have ended.
    """
    if total <= 0:
        return
    threads = min(_num_threads, total // max(grain, 1))
    if threads <= 1 or _inside.loop:
        body(0, total)
        return
    job = _Job(chunks(total, threads, grain), body)
    _pool.run(job, threads - 1)
    if job.error is not None:
        raise job.error
