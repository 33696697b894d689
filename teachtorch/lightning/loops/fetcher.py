"""Batches of one pass over a loader, and whether each is the last."""

import math

from ..seed import random_state, set_random_state

NOTHING = object()


class Fetcher:
    """Iterates over at most `limit` batches of `loader` (math.inf: all).

    `is_last`: whether the batch just given was the last. Where the number of batches is not known, that
    takes fetching one ahead; `before_ahead` are the random numbers before that, from which a stream may
    have drawn it.
    """

    def __init__(self, loader, limit):
        self.limit, self.fetched, self.is_last = limit, 0, limit == 0
        self._iterator, self._ahead = iter(loader), NOTHING
        self.before_ahead = self._replayed = None
        self._looks_ahead = limit == math.inf or not has_length(loader)

    def __iter__(self):
        return self

    def __next__(self):
        if self.is_last:
            raise StopIteration
        batch, self._ahead = self._ahead, NOTHING
        if batch is NOTHING:
            batch = next(self._iterator)
        self.fetched += 1
        self.is_last = self.fetched >= self.limit or self._looks_ahead and not self._has_more()
        return batch

    def _has_more(self):
        if self._replayed is not None:
            set_random_state(self._replayed)
            self._replayed = None
        self.before_ahead = random_state()
        self._ahead = next(self._iterator, NOTHING)
        return self._ahead is not NOTHING

    def skip(self, count, before_ahead=None):
        """Throw away the first `count` batches: a run that is resumed has trained on them.

        `before_ahead`: what it was after them; the batch fetched ahead is then the same as in that run.
        """
        for number in range(count):
            self._replayed = before_ahead if number == count - 1 else None
            next(self)


def has_length(loader):
    """Whether len(loader) is known."""
    try:
        len(loader)
    except (TypeError, NotImplementedError):
        return False
    return True
