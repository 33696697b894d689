"""Learning rate schedulers: they change the groups' "lr" after each epoch (or batch).

    for epoch in range(10):
        train(optimizer)            # optimizer.step() first,
        scheduler.step()            # then scheduler.step()

Most are recursive ("chainable"): the new rate is a factor times the *current* one, so that several schedulers
can act on one optimizer, each multiplying. `_get_closed_form_lr` is the same from the first rate on, for
step(epoch). https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate
"""
import functools
import math
import types
import warnings
import weakref
from bisect import bisect_right
from collections import Counter
from contextlib import contextmanager

from ..tensor import Tensor
from .optimizer import Optimizer

EPOCH_IS_DEPRECATED = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler. During the deprecation, if epoch is different "
    "from None, the closed form is used instead of the new chainable form, where available. Please open an "
    "issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose.")
SEE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. "
    "Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`. " + SEE)
WRONG_ORDER = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
    "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to "
    "do this will result in PyTorch skipping the first value of the learning rate schedule. " + SEE)
RESUMED = (
    "param 'initial_lr' is not specified in param_groups[{}] when resuming scheduler with last_epoch >= 0.\n"
    "This typically happens when:\n"
    "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer state\n"
    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)")


# ---- values in groups: numbers, or tensors that are changed in place ---------------------------------------

def copied(value):
    return value.clone() if isinstance(value, Tensor) else value


def values_of(optimizer, key="lr"):
    """The groups' values, copied: changing them does not change the optimizer."""
    return [copied(group[key]) for group in optimizer.param_groups]


def set_value(group, key, value):
    if isinstance(group[key], Tensor):
        group[key].fill_(value.squeeze() if isinstance(value, Tensor) else value)
    else:
        group[key] = value


def for_each_group(name, optimizer, value):
    """A list with a value for each group, from one value or a list of them. ValueError if there are too many or few."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [copied(value) for _ in range(count)]
    if len(value) != count:
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has "
                         f"{len(value)} values, param_groups has {count}.")
    return [copied(v) for v in value]


def require_optimizer(optimizer):
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def track_steps(optimizer):
    """Make the optimizer note (`_opt_called`) that its step was called."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    reference, function = weakref.ref(optimizer), optimizer.step.__func__

    @functools.wraps(function)
    def step(*args, **kwargs):
        owner = reference()
        owner._opt_called = True
        return function.__get__(owner, type(owner))(*args, **kwargs)
    step._wrapped_by_lr_sched = True
    optimizer.step = step


class LRScheduler:
    """Base class. Subclasses define `get_lr()`: the groups' rates for epoch `self.last_epoch`.

    `last_epoch`: -1 to start, and then the groups' "lr" becomes their "initial_lr"; the last epoch that has
    run to go on, and then KeyError where "initial_lr" is missing. The constructor makes the step to the first
    epoch.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        require_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(RESUMED.format(i))
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        track_steps(optimizer)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    # ---- state ---------------------------------------------------------------------------------------------

    def state_dict(self):
        """All attributes but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict):
        """Take over the attributes; the optimizer's rates are in the optimizer's own state."""
        self.__dict__.update(state_dict)

    # ---- rates ---------------------------------------------------------------------------------------------

    def get_last_lr(self):
        """The rates that the last step set, one for each group."""
        return self._last_lr

    def get_lr(self):
        """The rates for `last_epoch`; called by step. Users want get_last_lr()."""
        raise NotImplementedError

    def _warn_if_called_by_users(self):
        if not self._get_lr_called_within_step:
            warnings.warn("To get the last learning rate computed by the scheduler, please use "
                          "`get_last_lr()`.",
                          UserWarning, stacklevel=3)

    @contextmanager
    def _within_step(self):
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def step(self, epoch=None):
        """Go on to the next epoch (or, deprecated, to `epoch`) and set the groups' rates."""
        if self._step_count == 1:
            self._warn_of_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_IS_DEPRECATED, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _warn_of_order(self):
        """At the second step (the first was the constructor's) the optimizer must have stepped."""
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warnings.warn(OVERRIDDEN, UserWarning, stacklevel=3)
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(WRONG_ORDER, UserWarning, stacklevel=3)

    def _update_lr(self, epoch=None):
        with self._within_step():
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = epoch is not None and hasattr(self, "_get_closed_form_lr")
            rates = self._get_closed_form_lr() if closed else self.get_lr()
        self._set_rates(rates)

    def _set_rates(self, rates):
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_value(group, "lr", rate)
        self._last_lr = values_of(self.optimizer)


_LRScheduler = type("_LRScheduler", (LRScheduler,), {"__doc__": "The old name of LRScheduler."})


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
    """From `start_factor` times the rates to `end_factor` times the rates, in a straight line of
    `total_iters` epochs.

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


# ---- cosines -----------------------------------------------------------------------------------------------

def cosine(turns):
    """1 + cos of half turns."""
    return 1 + math.cos(math.pi * turns)


class CosineAnnealingLR(LRScheduler):
    """Down to `eta_min` along half a cosine of `T_max` epochs, then up again (Loshchilov and Hutter 2016,
    without restarts)."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_if_called_by_users()
        epoch, groups = self.last_epoch, self.optimizer.param_groups
        if self._is_initial:
            return values_of(self.optimizer)
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:   # from the lowest point a factor would be 0 / 0
            return [group["lr"] + (base - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
                    for base, group in zip(self.base_lrs, groups, strict=True)]
        factor = cosine(epoch / self.T_max) / cosine((epoch - 1) / self.T_max)
        return [factor * (group["lr"] - self.eta_min) + self.eta_min for group in groups]

    def _get_closed_form_lr(self):
        return [self.eta_min + (base - self.eta_min) * cosine(self.last_epoch / self.T_max) / 2
                for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down to `eta_min` along half a cosine, again and again (SGDR, Loshchilov and Hutter 2016).

    `T_0`: epochs to the first restart; each next cycle is `T_mult` times as long. `step(epoch)` takes
    fractions. ValueError for options out of range.
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_if_called_by_users()
        share = cosine(self.T_cur / self.T_i) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch=None):
        """Go on by one epoch, or to `epoch`, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self._go_on()
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        with self._within_step():
            rates = self.get_lr()
        self._set_rates(rates)

    def _go_on(self):
        self.T_cur += 1
        if self.T_cur >= self.T_i:
            self.T_cur %= self.T_i
            self.T_i *= self.T_mult

    def _go_to(self, epoch):
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            cycle = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult ** cycle - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult ** cycle


# ---- cycles, of the momentum too ---------------------------------------------------------------------------

class MomentumCycle(LRScheduler):
    """For schedulers that move the momentum against the rate: "momentum", or the first of "betas"."""

    def _start_momentum(self, optimizer, base, largest, last_epoch):
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        bases = for_each_group("base_momentum", optimizer, base)
        tops = for_each_group("max_momentum", optimizer, largest)
        if last_epoch == -1:
            for top, low, group in zip(tops, bases, optimizer.param_groups, strict=True):
                self._set_momentum(group, top)
                group["max_momentum"], group["base_momentum"] = top, low
        return bases, tops

    def _set_momentum(self, group, value):
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(MomentumCycle):
    """Up from `base_lr` to `max_lr` and down again, again and again, by the batch (Smith 2015).

    `mode`: "triangular"; "triangular2", where each cycle is half as high; "exp_range", where the height is
    gamma ** iteration; or `scale_fn` of the cycle or of the iteration (`scale_mode`). `cycle_momentum`: the
    momentum goes from `max_momentum` down to `base_momentum` and back. ValueError for options that do not
    fit.
    """

    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular",
                 gamma=1.0,
                 scale_fn=None, scale_mode="cycle", cycle_momentum=True, base_momentum=0.8, max_momentum=0.9,
                 last_epoch=-1):
        require_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = for_each_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for rate, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_value(group, "lr", rate)
        self.max_lrs = for_each_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self._scale_fn_custom, self.scale_mode = mode, gamma, scale_fn, scale_mode
        self._choose_scale()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._start_momentum(
                optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _choose_scale(self):
        if self._scale_fn_custom is None:
            self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"

    def scale_fn(self, x):
        """The height of a cycle (or at an iteration), relative to the first."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / (2.0 ** (x - 1)) if self.mode == "triangular2" else self.gamma ** x

    def get_lr(self):
        """The rates for `last_epoch`; with `cycle_momentum` it sets the momentum as well."""
        self._warn_if_called_by_users()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, top in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums,
                                       strict=True):
                self._set_momentum(group, top - (top - low) * height * scale)
        return [low + (top - low) * height * scale
                for low, top in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self):
        """All attributes but the optimizer; of a scale_fn the attributes, if it is an object."""
        state = super().state_dict()
        function = state.pop("_scale_fn_custom")
        state["_scale_fn_custom"] = None if function is None else saved_callable(function)
        return state

    def load_state_dict(self, state_dict):
        saved = state_dict["_scale_fn_custom"]
        super().load_state_dict({name: v for name, v in state_dict.items() if name != "_scale_fn_custom"})
        if saved is not None:
            self._scale_fn_custom.__dict__.update(saved)
        self._choose_scale()


class OneCycleLR(MomentumCycle):
    """Up from max_lr / div_factor to `max_lr` and down to that / final_div_factor, by the batch (Smith 2018).

    `total_steps`, or `epochs` times `steps_per_epoch`: steps in all; ValueError for one more. `pct_start`:
    the part that goes up. `three_phase`: down as far as it went up, then to the end. `cycle_momentum`: the
    momentum goes the other way. ValueError for options out of range.
    """

    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
                 anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85, max_momentum=0.95,
                 div_factor=25.0, final_div_factor=1e4, three_phase=False, last_epoch=-1):
        require_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = one_cycle_steps(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = one_cycle_phases(self.total_steps, pct_start, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError("anneal_strategy must be one of 'cos' or 'linear', instead got "
                             f"{anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        tops = for_each_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for top, group in zip(tops, optimizer.param_groups):
                group["initial_lr"], group["max_lr"] = top / div_factor, top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._start_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates for `last_epoch`; with `cycle_momentum` it sets the momentum as well."""
        self._warn_if_called_by_users()
        if self.last_epoch > self.total_steps:
            raise ValueError(f"Tried to step {self.last_epoch} times. The specified number of total steps is "
                             f"{self.total_steps}")
        phase, passed = self._phase()
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], passed))
            if self.cycle_momentum:
                self._set_momentum(group,
                                   self._between(group[phase["start_momentum"]], group[phase["end_momentum"]],
                                                        passed))
        return rates

    def _phase(self):
        """The phase of `last_epoch`, and how much of it has passed."""
        start = 0.0
        for phase in self._schedule_phases:
            if self.last_epoch <= phase["end_step"] or phase is self._schedule_phases[-1]:
                return phase, (self.last_epoch - start) / (phase["end_step"] - start)
            start = phase["end_step"]

    def _between(self, start, end, passed):
        if self._anneal_func_type == "linear":
            return (end - start) * passed + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * passed) + 1)


def one_cycle_steps(total_steps, epochs, steps_per_epoch):
    """How many steps the cycle has. ValueError unless it is given in one of the two ways."""
    if total_steps is not None:
        counts = {"total_steps": total_steps}
    elif epochs is not None and steps_per_epoch is not None:
        counts = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    else:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, count in counts.items():
        if count <= 0 or not isinstance(count, int):
            raise ValueError(f"Expected positive integer {name}, but got {count}")
    return math.prod(counts.values())


def one_cycle_phases(total, part, three_phase):
    """Where the phases end, and from and to which of the groups' values they lead."""
    up = one_cycle_phase(float(part * total) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    if not three_phase:
        return [up, one_cycle_phase(total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    return [up,
            one_cycle_phase(float(2 * part * total) - 2, "max_lr", "initial_lr", "base_momentum",
                            "max_momentum"),
            one_cycle_phase(total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum")]


def one_cycle_phase(end_step, start_lr, end_lr, start_momentum, end_momentum):
    return {"end_step": end_step, "start_lr": start_lr, "end_lr": end_lr, "start_momentum": start_momentum,
            "end_momentum": end_momentum}


# ---- several schedulers ------------------------------------------------------------------------------------

class SeveralLR(LRScheduler):
    """For schedulers that are made of others."""

    def _check(self, schedulers, optimizer, purpose):
        """Refuse no schedulers, plateaus (whose steps need a metric) and other optimizers'."""
        name = type(self).__name__
        if len(schedulers) < 1:
            raise ValueError(f"{name} expects at least one scheduler{purpose}, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(f"{name} does not support `ReduceLROnPlateau` scheduler as it requires "
                                 f"additional kwargs to be specified when calling `step`, but got one at "
                                 f"index {i} in the given schedulers sequence.")
            if optimizer != scheduler.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is different "
                    f"from {type(optimizer).__name__}.")
        return optimizer

    def state_dict(self):
        """All attributes but the optimizer, the schedulers' as their state dicts."""
        state = super().state_dict()
        state["_schedulers"] = [scheduler.state_dict() for scheduler in state.pop("_schedulers")]
        return state

    def load_state_dict(self, state_dict):
        self.__dict__.update({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for scheduler, saved in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(saved)


class ChainedScheduler(SeveralLR):
    """Step all the schedulers together: each multiplies what the ones before it left."""

    def __init__(self, schedulers, optimizer=None):
        optimizer = self._check(schedulers, optimizer, " to be chained")
        self._schedulers, self.optimizer = schedulers, optimizer
        self._last_lr = values_of(optimizer)

    def step(self):
        """Step every scheduler."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values_of(self.optimizer)


class SequentialLR(SeveralLR):
    """One scheduler after the other: the next takes over, from its own epoch 0, at each of the epochs `milestones`."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        self._check(schedulers, optimizer, "")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("Sequential Schedulers expects number of schedulers provided to be one more "
                             f"than the number of milestone points, but got number of schedulers "
                             f"{len(schedulers)} and the number of milestones to be equal to "
                             f"{len(milestones)}")
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            set_value(group, "lr", group["initial_lr"])
        undo_first_step(self)
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self):
        """Step the scheduler whose turn it is."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[turn]
        if turn > 0 and self._milestones[turn - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


def undo_first_step(scheduler):
    """Take back the epoch that each scheduler's constructor counted."""
    if hasattr(scheduler, "_schedulers"):
        for part in scheduler._schedulers:
            undo_first_step(part)
    elif hasattr(scheduler, "last_epoch"):
        scheduler.last_epoch -= 1


# ---- by a metric -------------------------------------------------------------------------------------------

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
