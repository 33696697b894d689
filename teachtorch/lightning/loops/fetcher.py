"""Batches of one pass over a loader, and whether each is the last."""
import math

NOTHING = object()


class Fetcher:
    """Iterates over at most `limit` batches of `loader` (math.inf: all).

    `is_last`: whether the batch just given was the last. Where the number of batches is not known, that takes
    fetching one ahead.
    """

    def __init__(self, loader, limit):
        self.limit, self.fetched, self.is_last = limit, 0, limit == 0
        self._iterator, self._ahead = iter(loader), NOTHING
        self._looks_ahead = limit == math.inf or not has_length(loader)

    def __iter__(self):
        return self

    def __next__(self):
        if self.is_last:
            raise StopIteration
        batch = self._take()
        self.fetched += 1
        self.is_last = self.fetched >= self.limit or not self._has_more()
        return batch

    def _take(self):
        batch, self._ahead = self._ahead, NOTHING
        return next(self._iterator) if batch is NOTHING else batch

    def _has_more(self):
        if self._looks_ahead:
            self._ahead = next(self._iterator, NOTHING)
            return self._ahead is not NOTHING
        return True

    def skip(self, count):
        """Throw away the first `count` batches: a run that is resumed has trained on them."""
        for _ in range(count):
            next(self)


def has_length(loader):
    """Whether len(loader) is known."""
    try:
        len(loader)
    except (TypeError, NotImplementedError):
        return False
    return True
