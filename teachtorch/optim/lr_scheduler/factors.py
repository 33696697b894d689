"""Schedulers that multiply the rates: by factors of their own, and by those of users' functions."""

import types
from bisect import bisect_right
from collections import Counter

from .base import LRScheduler, values_of


class FactorLR(LRScheduler):
    """For schedulers whose next rate is a factor times the current one, the same for all groups."""

    def _factor(self):
        """What the current rates are multiplied with at epoch `last_epoch`; None: they stay."""
        raise NotImplementedError

    def _factor_since_start(self):
        """What the first rates are multiplied with to give those of `last_epoch`."""
        raise NotImplementedError

    def get_lr(self):
        self._warn_if_called_by_users()
        factor = self._factor()
        if factor is None:
            return values_of(self.optimizer)
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self):
        factor = self._factor_since_start()
        return [rate * factor for rate in self.base_lrs]


class StepLR(FactorLR):
    """Multiply the rates by `gamma` every `step_size` epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self):
        return self.gamma if self.last_epoch != 0 and self.last_epoch % self.step_size == 0 else None

    def _factor_since_start(self):
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(FactorLR):
    """Multiply the rates by `gamma` at each of the epochs `milestones`; twice at one that is named twice."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self):
        return self.gamma ** self.milestones[self.last_epoch] if self.last_epoch in self.milestones else None

    def _factor_since_start(self):
        return self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch)


class ConstantLR(FactorLR):
    """`factor` times the rates until epoch `total_iters`, then the rates. ValueError for a factor outside [0, 1]."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self):
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else None

    def _factor_since_start(self):
        return self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)


class LinearLR(FactorLR):
    """From `start_factor` times the rates to `end_factor` times the rates, in a straight line of `total_iters` epochs.

    ValueError for factors outside (0, 1] and [0, 1].
    """

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or "
                             "equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self):
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        rise = self.end_factor - self.start_factor
        return 1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)

    def _factor_since_start(self):
        passed = min(self.total_iters, self.last_epoch) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * passed


class ExponentialLR(FactorLR):
    """Multiply the rates by `gamma` every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self):
        return None if self._is_initial else self.gamma

    def _factor_since_start(self):
        return self.gamma ** self.last_epoch


class PolynomialLR(FactorLR):
    """The rates times (1 - epoch / total_iters) ** power, then 0."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self):
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        return (self._left(self.last_epoch) / self._left(self.last_epoch - 1)) ** self.power

    def _factor_since_start(self):
        return self._left(min(self.total_iters, self.last_epoch)) ** self.power

    def _left(self, epoch):
        return 1.0 - epoch / self.total_iters


# ---- by functions of users ---------------------------------------------------------------------------------

class ByFunctions(LRScheduler):
    """For schedulers with a function of the epoch for each group. Functions' code is not saved, callables' state is."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        self._check_functions()
        super().__init__(optimizer, last_epoch)

    def _check_functions(self):
        """Refuse functions that cannot work; none here."""

    def state_dict(self):
        """All attributes but the optimizer; of `lr_lambdas` the attributes of callable objects, None for functions."""
        state = super().state_dict()
        state["lr_lambdas"] = [saved_callable(f) for f in state.pop("lr_lambdas")]
        return state

    def load_state_dict(self, state_dict):
        self.__dict__.update({name: value for name, value in state_dict.items() if name != "lr_lambdas"})
        for function, saved in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if saved is not None:
                function.__dict__.update(saved)


def saved_callable(function):
    """What a state dict keeps: an object's attributes, nothing of a function."""
    return None if isinstance(function, types.FunctionType) else function.__dict__.copy()


class LambdaLR(ByFunctions):
    """The *first* rates times lr_lambda(epoch): one function, or a list with one for each group."""

    def get_lr(self):
        self._warn_if_called_by_users()
        return [rate * f(self.last_epoch) for f, rate in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(ByFunctions):
    """The *current* rates times lr_lambda(epoch): one function, or a list with one for each group."""

    def _check_functions(self):
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")

    def get_lr(self):
        self._warn_if_called_by_users()
        if self._is_initial:
            return values_of(self.optimizer)
        return [group["lr"] * f(self.last_epoch)
                for f, group in zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)]
