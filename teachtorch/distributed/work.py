"""Work: an operation that has been begun; and waiting for it, with a time limit."""

import os
import time
from datetime import timedelta

from ..core import observer
from . import link
from .errors import DistBackendError

SPINS = 200  # so many looks at full speed, then the core is offered to others between two looks
TELLS_WITHIN = 1.0  # seconds in which other ranks have said what they have begun, after an error of MPI's
LISTEN_EVERY = 0.05  # seconds between two looks for questions of ranks that miss someone


class Work:
    """What a collective with `async_op=True` returns, and isend and irecv.

    The result is there after `wait()`; until then the tensors must be left alone. MPI moves on only while
    someone waits or asks. https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.Work
    """

    def __init__(self, group, name, request, finish=None, nbytes=0, result=(), check=None):
        self.group, self.request, self.finish, self.tensors = group, request, finish, result
        self.check = check  # that all ranks mean the same, see agreement.py
        self.place = group.next_place(name)
        self.arrives_at = link.arrival(nbytes) if group.size() > 1 else 0.0
        self.is_done, self.begun = False, time.perf_counter()
        self._future = None
        group.keep(self)
        if observer.active:
            self.report("start", nbytes)

    def is_completed(self):
        """Whether the result is there; does not wait."""
        if not self.is_done and time.perf_counter() >= self.arrives_at and self.has_come():
            self.complete()
        return self.is_done

    def has_come(self):
        """Whether the bytes are there. RuntimeError if other ranks have begun something else."""
        if self.check is not None and not self.check.is_completed():
            return False
        try:
            return self.request.Test()
        except RuntimeError as error:
            for check in self.group.unverified:  # they may know better
                comes_within(check, TELLS_WITHIN)
            raise mismatch(self.place, error) from None

    def complete(self):
        self.is_done = True
        if self.finish is not None:
            self.finish()
        self.finish = None
        self.group.on_the_way.discard(self)
        if observer.active:
            self.report("end", 0)

    def is_success(self):
        """Whether it is complete, without an error."""
        return self.is_completed()

    def exception(self):
        """The error it ended with, if any."""
        return None

    def result(self):
        """The tensors of the result."""
        self.wait()
        return list(self.tensors)

    def source_rank(self):
        """The rank that a receive has heard from."""
        return self.group.ranks[self.request.source]

    def wait(self, timeout=None):
        """Return True when the result is there.

        `timeout`: a timedelta, the group's if None. DistBackendError names the collective and the ranks that
        are missing.
        """
        if not self.is_completed():
            seconds = seconds_of(timeout, self.group.timeout)
            if not comes_within(self, seconds):
                raise DistBackendError(self.group.who_is_missing(self.place, seconds))
        return True

    def get_future(self):
        """A Future of the result, a list of tensors; its callbacks run when it is waited for."""
        from ..futures import WorkFuture

        if self._future is None:
            self._future = WorkFuture(self)
        return self._future

    def report(self, phase, nbytes):
        group, number, name = self.place
        observer.report(
            "collective",
            phase=phase,
            name=name,
            group=group,
            number=number,
            nbytes=nbytes,
            begun=self.begun,
            arrival=self.arrives_at,
            time=time.perf_counter(),
        )


def mismatch(place, error):
    """What an error of MPI's own means: the ranks' bytes do not fit together."""
    group, number, name = place
    return DistBackendError(
        f"{name}, collective {number} of group '{group}': the ranks' tensors have different sizes, or the ranks have "
        f"begun different operations. MPI says: {error}"
    )


def seconds_of(timeout, default):
    timeout = default if timeout is None or timeout == timedelta(0) else timeout
    return timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)


def comes_within(work, seconds):
    """Look until the work is complete: True; False after `seconds`. Meanwhile answer ranks that miss someone."""
    sleep_until(work.arrives_at)
    deadline, listen_at, spins = time.monotonic() + seconds, time.monotonic() + LISTEN_EVERY, 0
    while not work.has_come():
        spins += 1
        if spins > SPINS:
            offer_the_core()
            now = time.monotonic()
            if now > deadline:
                return False
            if now > listen_at:
                work.group.answer(work.place)
                listen_at = now + LISTEN_EVERY
    work.complete()
    return True


def sleep_until(moment):
    left = moment - time.perf_counter()
    if left > 0:
        time.sleep(left)


def offer_the_core():
    if hasattr(os, "sched_yield"):
        os.sched_yield()
    else:
        time.sleep(0)
