"""The inside of a DataLoader's worker process.

One thread listens to the parent, so that the parent never waits when it sends, and so that the worker ends when the
parent is gone; the main thread fetches the batches and sends them.
"""
import multiprocessing
import os
import pickle
import queue
import random
import signal
import threading
import time
import traceback
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any

import numpy as np

from ...kernels.parallel import set_num_threads
from ...ops.generators import manual_seed
from . import transport
from .fetch import fetcher_of

_worker_info = None
LOW_32_BITS = 0xFFFFFFFF


@dataclass(frozen=True)
class WorkerInfo:
    """What get_worker_info tells in a worker: its number, of how many, its seed, and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


def get_worker_info():
    """A WorkerInfo in a worker of a DataLoader, None in any other process."""
    return _worker_info


@dataclass
class Job:
    """What a worker must know of its DataLoader; the fetchers take it for one."""

    dataset: Any
    collate_fn: Any
    _auto_collation: bool
    drop_last: bool
    _is_stream: bool
    worker_init_fn: Any
    num_workers: int
    base_seed: int


class StreamEnd:
    """Sent once by a worker whose stream has ended."""


class Failure:
    """An exception of a worker, to be raised again in the parent with the worker's traceback in its message."""

    def __init__(self, error, worker_id):
        kind = type(error)
        self.message = (f"Caught {kind.__name__} in DataLoader worker process {worker_id}.\nOriginal "
                        + "".join(traceback.format_exception(error)))
        self.kind = kind if is_picklable(kind) else RuntimeError

    def reraise(self):
        """Raise it; a RuntimeError if its class does not take a message."""
        try:
            message = PlainMessage(self.message) if self.kind is KeyError else self.message
            error = self.kind(message)
        except Exception:
            error = RuntimeError(self.message)
        raise error


class PlainMessage(str):
    """A message that KeyError, which shows its argument by repr, shows as it is."""

    __repr__ = str.__str__


def is_picklable(obj):
    try:
        pickle.dumps(obj)
    except Exception:
        return False
    return True


class Inbox:
    """What the parent has sent; `epoch` and `is_closed` are known as soon as it is read, before what came earlier."""

    def __init__(self, connection):
        self.tasks, self.epoch, self.is_closed = queue.SimpleQueue(), 0, False
        threading.Thread(target=self._listen, args=(connection,), daemon=True).start()

    def _listen(self, connection):
        parent = multiprocessing.parent_process().sentinel
        while connection in wait([connection, parent]):
            message = received(connection)
            if message is None:
                self.is_closed = True
                self.tasks.put(None)
                break
            self.epoch = message[0]
            self.tasks.put(message)
        wait([parent])
        os._exit(1)                    # the parent is gone; whatever this process is doing is for nobody

    def __iter__(self):
        """The tasks of this epoch, (epoch, number, indices), until there will be no more."""
        while not self.is_closed and (task := self.tasks.get()) is not None:
            if task[0] == self.epoch and not self.is_closed:
                yield task


def received(connection):
    """The next message; None when the parent has closed."""
    try:
        return connection.recv()
    except (EOFError, OSError):
        return None


def work(connection, job, worker_id):
    """Run as a worker process until the parent says so: fetch the batches of tasks and send them back."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)         # Ctrl-C is the parent's; it ends its workers
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    set_num_threads(1)
    fetcher = prepared(job, worker_id)
    try:
        for epoch, number, indices in Inbox(connection):
            if number is None:                               # a new epoch for a worker that stays
                fetcher.restart()
            elif not fetcher.has_ended:
                began = time.monotonic()
                package = fetcher.package(indices)
                transport.send(connection, (epoch, number, began, time.monotonic()), package)
    except (BrokenPipeError, ConnectionResetError):
        return                                               # the parent has closed: it wants no more


def seed_everything(base_seed, worker_id):
    """Seed Python's, teachtorch's and NumPy's global generators, as PyTorch does; returns the seed."""
    seed = base_seed + worker_id
    random.seed(seed)
    manual_seed(seed)
    mixed = np.random.SeedSequence([worker_id, base_seed & LOW_32_BITS, base_seed >> 32, 0])
    np.random.seed(mixed.generate_state(4))
    return seed


def prepared(job, worker_id):
    """Set this process up as a worker."""
    global _worker_info
    seed = seed_everything(job.base_seed, worker_id)
    _worker_info = WorkerInfo(worker_id, job.num_workers, seed, job.dataset)
    return Fetcher(job, worker_id)


class Fetcher:
    """Batches, or what went wrong, as packages to send."""

    def __init__(self, job, worker_id):
        self.job, self.worker_id = job, worker_id
        self.has_ended, self.failure, self.fetch = False, None, None
        if job.worker_init_fn is not None:
            self._attempt(lambda: job.worker_init_fn(worker_id))
        if self.failure is None:
            self.restart()

    def restart(self):
        """Begin a new epoch."""
        self.has_ended = False
        self._attempt(self._new_fetch)

    def _new_fetch(self):
        self.fetch = fetcher_of(self.job)

    def _attempt(self, step):
        try:
            step()
        except Exception as error:
            self.failure = Failure(error, self.worker_id)

    def package(self, indices):
        """A batch, a StreamEnd or a Failure, packed."""
        try:
            return transport.packed(self.failure or self._batch(indices))
        except Exception as error:
            return transport.packed(Failure(error, self.worker_id))

    def _batch(self, indices):
        try:
            return self.fetch(indices)
        except StopIteration:
            if not self.job._is_stream:
                raise
            self.has_ended = True
            return StreamEnd()
