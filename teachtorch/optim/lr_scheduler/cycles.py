"""Schedulers that go down and up again: cosines, and cycles of the momentum too."""

import math

from .base import LRScheduler, for_each_group, require_optimizer, set_value, values_of
from .factors import saved_callable


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
