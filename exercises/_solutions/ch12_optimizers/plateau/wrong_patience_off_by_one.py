"""Lowers the rate with the patience-th bad epoch."""

import math

FAILS = "test_patience"
SAYS = "the third one lowers"


class Plateau:
    def __init__(
        self,
        lr,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=0.0001,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0.0,
    ):
        self.lr, self.mode, self.factor, self.patience = (lr, mode, factor, patience)
        self.threshold, self.threshold_mode = (threshold, threshold_mode)
        self.cooldown, self.min_lr = (cooldown, min_lr)
        self.best = math.inf if mode == "min" else -math.inf
        self.bad_epochs = self.cooling = 0

    def is_better(self, metric):
        sign = 1 if self.mode == "max" else -1
        margin = self.threshold * (self.best if self.threshold_mode == "rel" else 1)
        if math.isinf(self.best):
            return True
        return sign * metric > sign * (self.best + sign * margin)

    def step(self, metric):
        if self.is_better(metric):
            self.best, self.bad_epochs = (metric, 0)
        else:
            self.bad_epochs += 1
        if self.cooling > 0:
            self.cooling -= 1
            self.bad_epochs = 0
        if self.bad_epochs >= max(self.patience, 1):
            self.lr = max(self.lr * self.factor, self.min_lr)
            self.cooling, self.bad_epochs = (self.cooldown, 0)
