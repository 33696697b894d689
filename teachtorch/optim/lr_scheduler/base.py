"""What all schedulers share: the groups' values, the count of epochs, and the warnings about calls in a wrong order."""

import functools
import warnings
import weakref
from contextlib import contextmanager

from ...tensor import Tensor
from ..optimizer import Optimizer


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
