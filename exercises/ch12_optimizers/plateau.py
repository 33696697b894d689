"""ReduceLROnPlateau: a smaller rate when the loss has stopped getting better.

    scheduler.step(metric)      at the end of each epoch

    A metric is better if

        mode "min"    metric < best * (1 - threshold)     threshold_mode "abs":  metric < best - threshold
        mode "max"    metric > best * (1 + threshold)                            metric > best + threshold

    At the end of an epoch:

    better          sets `best`, and the count of bad epochs to 0
    not better      one bad epoch more
    in a cooldown   bad epochs do not count: the count is 0, and the cooldown one epoch shorter
    then            MORE than `patience` bad epochs:  rate = max(rate * factor, min_lr), the count starts
                    anew, and a cooldown begins

The first metric is always better. (PyTorch also leaves the rate alone where it would change by less than
eps.)
"""

import math


class Plateau:
    """Watches a metric. `lr` is the rate at present."""

    def __init__(
        self,
        lr,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0.0,
    ):
        self.lr, self.mode, self.factor, self.patience = lr, mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.min_lr = cooldown, min_lr
        self.best = math.inf if mode == "min" else -math.inf
        self.bad_epochs = self.cooling = 0

    def is_better(self, metric):
        """Whether the metric is better than the best by more than the threshold."""
        raise NotImplementedError

    def step(self, metric):
        """Take note of an epoch's metric, and change lr if it is time."""
        raise NotImplementedError
