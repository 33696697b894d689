"""The outside of worker processes: tasks are dealt out ahead of need, results put back in order."""
import contextlib
import itertools
import multiprocessing
import os
import signal
import time
import weakref
from multiprocessing.connection import wait

from ...core import observer
from . import transport
from .iterator import _BaseDataLoaderIter
from .worker import Failure, Job, StreamEnd, work

PATIENCE = 5.0                        # seconds that workers have to end by themselves
_parents_ends = weakref.WeakSet()     # of all connections to workers in this process


def _close_in_fork():
    """A forked child must not keep its siblings' connections open: they would not notice that the parent closes."""
    for connection in list(_parents_ends):
        connection.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_fork)


class Worker:
    """One worker process, seen from its parent. `is_active`: it may be given tasks; `load`: tasks it owes."""

    def __init__(self, context, job, worker_id):
        self.connection, theirs = context.Pipe()
        _parents_ends.add(self.connection)
        self.process = context.Process(target=work, args=(theirs, job, worker_id), daemon=True)
        self.process.start()
        theirs.close()
        self.is_active, self.load = True, 0

    def send(self, message):
        """Send a task. A worker that is gone is noticed where its answer is waited for."""
        try:
            self.connection.send(message)
        except (BrokenPipeError, ConnectionResetError):
            self.process.join(PATIENCE)

    def dismiss(self):
        """Tell it to end."""
        self.is_active = False
        if not self.connection.closed:
            self.send(None)
            self.connection.close()

    def end_of_life(self):
        """`pid`, and which signal killed it, if one did."""
        self.process.join(PATIENCE)
        code = self.process.exitcode or 0
        return f"{self.process.pid}", f" (killed by {signal.Signals(-code).name})" if code < 0 else ""


def end(workers, owner):
    """Dismiss all workers, wait for them, and stop by force what does not end. In a forked child: nothing."""
    if os.getpid() != owner:
        return
    for worker in workers:
        worker.dismiss()
    for stop in (None, "terminate", "kill"):
        deadline = time.monotonic() + PATIENCE
        for worker in workers:
            if stop is not None and worker.process.is_alive():
                getattr(worker.process, stop)()
            worker.process.join(max(0, deadline - time.monotonic()))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """One epoch, or with persistent workers one after the other, of batches that worker processes fetch."""

    def __init__(self, loader):
        super().__init__(loader)
        self._in_order, self._timeout, self._stays = loader.in_order, loader.timeout, loader.persistent_workers
        self._capacity = loader.prefetch_factor * loader.num_workers
        self._workers = []
        self._end = weakref.finalize(self, end, self._workers, os.getpid())
        job = Job(loader.dataset, loader.collate_fn, loader._auto_collation, loader.drop_last, loader._is_stream,
                  loader.worker_init_fn, loader.num_workers, self._base_seed)
        context = loader.multiprocessing_context or multiprocessing.get_context()
        self._epoch = 0
        with self._ending_on_interrupt():
            for worker_id in range(loader.num_workers):
                self._workers.append(Worker(context, job, worker_id))
            self._begin()

    @contextlib.contextmanager
    def _ending_on_interrupt(self):
        """Whoever pressed Ctrl-C does not want to wait until workers have finished their batches."""
        try:
            yield
        except KeyboardInterrupt:
            for worker in self._workers:
                worker.process.terminate()
            self._end()
            raise

    @property
    def has_workers(self):
        """Whether the workers are there for another epoch: not after one of them died, or Ctrl-C."""
        return self._end.alive

    def restart(self):
        """A new epoch with the same workers; what the last one still owes is dropped."""
        for worker in self._workers:
            worker.is_active, worker.load = True, 0
            worker.send((self._epoch + 1, None, None))
        self._begin()

    def _begin(self):
        self._epoch += 1
        self._indices = iter(self._index_sampler)
        self._turns = itertools.cycle(self._workers)
        self._owners = {}                        # task -> its worker, until the task's batch is given out
        self._early = {}                         # task -> package that came before its turn
        self._yielded = self._sent = self._next = 0              # numbers of the next task to deal out, to give out
        for _ in range(self._capacity):
            self._deal()

    def _next_batch(self):
        try:
            with self._ending_on_interrupt():
                return self._next_in_turn()
        except StopIteration:
            if not self._stays:
                self._end()
            raise

    # ---- tasks --------------------------------------------------------------------------------------------------

    def _deal(self):
        """Give the next task to the next worker in turn; nothing if there is no worker or no index left."""
        worker = next((w for w in itertools.islice(self._turns, len(self._workers)) if self._may_take(w)), None)
        if worker is None:
            return
        try:
            indices = next(self._indices)
        except StopIteration:
            return
        self._report("dealt", self._sent, worker)            # before: the worker may begin at once
        worker.send((self._epoch, self._sent, indices))
        worker.load += 1
        self._owners[self._sent] = worker
        self._sent += 1

    def _may_take(self, worker):
        if not worker.is_active or self._in_order:
            return worker.is_active
        return worker.load < self._capacity // sum(w.is_active for w in self._workers)

    def _report(self, phase, task, worker, **fields):
        if observer.active:
            observer.report("loader", phase=phase, epoch=self._epoch, task=task,
                            worker=self._workers.index(worker), time=time.monotonic(), **fields)

    # ---- results ------------------------------------------------------------------------------------------------

    def _next_in_turn(self):
        while self._advance():
            if self._next in self._early:
                return self._give_out(self._next, self._early.pop(self._next))
            task, result = self._receive()
            if isinstance(result, StreamEnd):
                self._stream_ended(self._owners.pop(task))
            elif task == self._next or not self._in_order:
                return self._give_out(task, result)
            else:
                self._early[task] = result
        raise StopIteration

    def _advance(self):
        """Move on to the next task whose batch is here or will come; False if there is none."""
        while self._next < self._sent:
            owner = self._owners.get(self._next)
            if self._next in self._early or (owner is not None and owner.is_active):
                return True
            self._owners.pop(self._next, None)
            self._next += 1
        return False

    def _stream_ended(self, worker):
        worker.is_active, worker.load = False, 0
        if not self._stays:
            worker.dismiss()
        self._deal()

    def _give_out(self, task, result):
        worker = self._owners.pop(task)
        worker.load -= 1
        self._deal()
        self._report("given", task, worker)
        if isinstance(result, Failure):
            result.reraise()
        return result

    def _receive(self):
        """(task, result) of this epoch that comes next, from any worker."""
        while True:
            worker = self._wait()
            try:
                (epoch, task, began, ended), package = transport.receive(worker.connection)
            except (EOFError, OSError) as error:
                self._lost([worker], error)
            if epoch == self._epoch:
                self._report("arrived", task, worker, began=began, ended=ended)
                return task, transport.unpacked(package)

    def _wait(self):
        """A worker that has sent something. RuntimeError if one has died, or none does in time."""
        active = {w.connection: w for w in self._workers if w.is_active}
        sentinels = [w.process.sentinel for w in active.values()]
        ready = wait([*active, *sentinels], self._timeout or None)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        for connection in ready:
            if connection in active:
                return active[connection]
        self._lost([w for w in active.values() if w.process.sentinel in ready])

    def _lost(self, workers, cause=None):
        """RuntimeError for workers that have ended without being told to."""
        pids, signals = zip(*(worker.end_of_life() for worker in workers))
        self._end()
        raise RuntimeError(f"DataLoader worker (pid(s) {', '.join(pids)}) exited unexpectedly"
                           + "".join(signals)) from cause
