"""ReduceLROnPlateau: a scheduler that looks at a metric."""

import math
import warnings

from .base import EPOCH_IS_DEPRECATED, LRScheduler, require_optimizer, set_value, values_of


class ReduceLROnPlateau(LRScheduler):
    """Multiply the rates by `factor` once a metric has not improved for more than `patience` epochs.

    Args:
        mode: "min" if the metric shall fall, "max" if it shall rise.
        threshold, threshold_mode: what counts as better: by a part of the best value ("rel") or by an amount
            ("abs").
        cooldown: epochs after a reduction in which bad ones do not count.
        min_lr: a rate, or a list with one for each group, below which it does not go.
        eps: smaller reductions are left out.

    `step(metric)` takes a number or a 1-element tensor. ValueError for options out of range.
    """

    def __init__(self, optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4, threshold_mode="rel",
                 cooldown=0, min_lr=0, eps=1e-8):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        require_optimizer(optimizer)
        self.optimizer = optimizer
        self._set_smallest(min_lr, len(optimizer.param_groups))
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = values_of(optimizer)
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _set_smallest(self, min_lr, count):
        is_list = isinstance(min_lr, (list, tuple))
        if is_list and len(min_lr) != count:
            raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
        self.default_min_lr = None if is_list else min_lr
        self.min_lrs = list(min_lr) if is_list else [min_lr] * count

    def _init_is_better(self, mode, threshold, threshold_mode):
        if mode not in ("min", "max"):
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError("threshold mode " + threshold_mode + " is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode

    def _reset(self):
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    @property
    def in_cooldown(self):
        """Whether bad epochs do not count yet."""
        return self.cooldown_counter > 0

    def step(self, metrics, epoch=None):
        """Note the metric of an epoch; reduce the rates if it is time."""
        current = float(metrics)
        if epoch is not None:
            warnings.warn(EPOCH_IS_DEPRECATED, UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._count(current)
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = values_of(self.optimizer)

    def _count(self, current):
        if self._is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0

    def _is_better(self, value, best):
        margin = self.threshold if self.mode == "max" else -self.threshold
        bar = best * (1.0 + margin) if self.threshold_mode == "rel" else best + margin
        return value > bar if self.mode == "max" else value < bar

    def _reduce_lr(self):
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            self._extend_smallest(len(groups))
        for group, smallest in zip(groups, self.min_lrs):
            old = float(group["lr"])
            new = max(old * self.factor, smallest)
            if old - new > self.eps:
                set_value(group, "lr", new)

    def _extend_smallest(self, count):
        if self.default_min_lr is None:
            raise RuntimeError(
                f"The number of param groups in the `optimizer` ({count}) differs from when "
                f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param "
                "group being added to the optimizer. Please modify the `min_lrs` field to match the length "
                "of the `optimizer` param groups.")
        self.min_lrs = [self.default_min_lr] * count

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)
