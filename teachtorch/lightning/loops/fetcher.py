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
        self.before_ahead = self.before_last_ahead = self._replayed = self.before_fetch = None
        self._looks_ahead = limit == math.inf or not has_length(loader)
        self._held = None  # a batch that was fetched again, and whether it is the last

    def __iter__(self):
        return self

    def __next__(self):
        if self._held is not None:
            (batch, self.is_last), self._held = self._held, None
            self.fetched += 1
            return batch
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
        self.before_last_ahead, self.before_ahead = self.before_ahead, random_state()
        self._ahead = next(self._iterator, NOTHING)
        return self._ahead is not NOTHING

    def state_dict(self):
        """How many batches were fetched, and the random numbers before the last ones were."""
        states = {name: getattr(self, name) for name in ("before_ahead", "before_last_ahead", "before_fetch")}
        return {"fetched": self.fetched, **states}

    def skip(self, done, state):
        """Throw away the `done` batches that a run that is resumed has trained on; `state`: the state_dict of then.

        At the start of a batch one more was fetched, and it is kept for then: the loader, or its samples, may have
        drawn random numbers for it. With the numbers before the last batches were fetched, also ahead, they are the
        same as in that run.
        """
        fetched = state["fetched"]
        for number in range(fetched):
            if number == done and state["before_fetch"] is not None:
                set_random_state(state["before_fetch"])
            replayed = {fetched - 1: "before_ahead", fetched - 2: "before_last_ahead"}.get(number)
            self._replayed = replayed and state[replayed]
            batch = next(self)
        if fetched > done:
            self._held = batch, self.is_last
            self.fetched, self.is_last = done, False


def has_length(loader):
    """Whether len(loader) is known."""
    try:
        len(loader)
    except (TypeError, NotImplementedError):
        return False
    return True
