"""When to stop, and what to keep.

EarlyStopping looks at a metric each time that it is *checked*: after every validation, which may be several
times in an epoch, or only every few epochs. It stops when `patience` checks one after another brought nothing
better. Equal is not better. NaN and infinity stop at once: what comes after them is no training.

TopK keeps the k best checkpoints. NaN is worse than everything else.
"""

import math


class EarlyStopping:
    """patience: checks without improvement, an int. mode: "min" or "max", what is better. min_delta: by how
    much.
    """

    def __init__(self, patience, mode="min", min_delta=0.0):
        self.patience, self.mode, self.min_delta = patience, mode, min_delta
        self.best, self.waited = None, 0

    def check(self, score, epoch):
        """Return a bool: stop now? score: a float. epoch: the epoch of this check, for messages only."""
        # solution
        if not math.isfinite(score):
            return True
        if self.best is None or is_better(score, self.best, self.mode, self.min_delta):
            self.best, self.waited = score, 0
            return False
        self.waited += 1
        return self.waited >= self.patience
        # end of solution


class TopK:
    """The k best of what was offered. k: an int from 1. mode: "min" or "max", what is better."""

    def __init__(self, k, mode="min"):
        self.k, self.mode = k, mode
        self.kept = {}

    def offer(self, name, score):
        """A checkpoint with this score. Return the name of the file to delete, or None.

        That is the worst one kept, where a better one comes and there are k already; `name` itself, where it
        is no better than those; None, where there is room. `kept` holds {name: score} of those kept.
        """
        # solution
        self.kept[name] = score
        if len(self.kept) <= self.k:
            return None
        worst = max(self.kept, key=lambda one: badness(self.kept, one, self.mode))
        del self.kept[worst]
        return worst
        # end of solution

    def best(self):
        """The name of the best one kept."""
        # solution
        return min(self.kept, key=lambda one: badness(self.kept, one, self.mode))
        # end of solution


# solution
def is_better(score, best, mode, min_delta):
    """Whether the score is better than the best one by more than min_delta."""
    return score < best - min_delta if mode == "min" else score > best + min_delta


def badness(kept, name, mode):
    """Larger is worse; of equals the newest is."""
    score = kept[name]
    if math.isnan(score):
        score = math.inf
    elif mode == "max":
        score = -score
    return score, list(kept).index(name)


# end of solution
