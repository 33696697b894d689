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
        # solution
        sign = 1 if self.mode == "max" else -1
        margin = self.threshold * (self.best if self.threshold_mode == "rel" else 1)
        if math.isinf(self.best):
            return True
        return sign * metric > sign * (self.best + sign * margin)
        # end of solution

    def step(self, metric):
        """Take note of an epoch's metric, and change lr if it is time."""
        # solution
        if self.is_better(metric):
            self.best, self.bad_epochs = metric, 0
        else:
            self.bad_epochs += 1
        if self.cooling > 0:
            self.cooling -= 1
            self.bad_epochs = 0
        if self.bad_epochs > self.patience:
            self.lr = max(self.lr * self.factor, self.min_lr)
            self.cooling, self.bad_epochs = self.cooldown, 0
        # end of solution
