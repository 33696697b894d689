"""Schedulers that call others, one after the other or all at once."""

from bisect import bisect_right

from .base import LRScheduler, set_value, values_of
from .plateau import ReduceLROnPlateau


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
