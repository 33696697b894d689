"""Join: training when some ranks have more inputs than others.

A rank that has run out of inputs would leave the others waiting in their collectives. So it goes on and
*shadows* them: it makes the collectives that they make, with zeros, until the last one has finished.

    every iteration, an active rank    all-reduces 1: how many are still at work?     notify_join_context
                     a rank that has joined   all-reduces 0; none left: done           __exit__
                                              else every joinable's main_hook
    at the end, all ranks              every joinable's post_hook

https://docs.pytorch.org/docs/stable/distributed.algorithms.join.html
"""

import warnings
from abc import ABC, abstractmethod
from typing import NamedTuple

from ...core import observer
from ...ops.declare import exports
from .. import collectives

ones, zeros = exports[""]["ones"], exports[""]["zeros"]
WARN_AFTER = 1000  # iterations shadowed
UNEVEN = (
    "Detected uneven input skew of greater than {n}. This means that rank {rank} has at least {n} fewer "
    "inputs than other "
    "currently-active ranks. This level of skew could lead to performance degradation during training."
)


class JoinHook:
    """What a joinable does on a rank that has run out of inputs."""

    def main_hook(self):
        """Shadow the collectives of one iteration of the others."""

    def post_hook(self, is_last_joiner):
        """After all have joined; `is_last_joiner`: whether this rank was among the last."""


class _JoinConfig(NamedTuple):
    """What the context tells its joinables: whether it is on, and who of them notifies."""

    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool

    @staticmethod
    def construct_disabled_join_config():
        return _JoinConfig(False, False, False)


class Joinable(ABC):
    """Base of what can take part: calls `Join.notify_join_context(self)` in each iteration before its collectives."""

    def __init__(self):
        super().__init__()
        self._join_config = _JoinConfig.construct_disabled_join_config()

    @abstractmethod
    def join_hook(self, **kwargs):
        """A JoinHook; `kwargs` are those given to Join, the same for all joinables."""

    @property
    @abstractmethod
    def join_device(self):
        """The device of the collectives."""

    @property
    @abstractmethod
    def join_process_group(self):
        """The process group of the collectives."""


class Join:
    """In the block, ranks may have different numbers of inputs; `joinables` take part in this order.

    `enable=False` switches it off, for inputs known to be even. `throw_on_early_termination`: when one rank
    runs out, RuntimeError on all, for models with collectives that nobody shadows. Further arguments go to
    all join hooks. ValueError if the joinables have different process groups.
    https://docs.pytorch.org/docs/stable/distributed.algorithms.join.html#torch.distributed.algorithms.Join
    """

    def __init__(self, joinables, enable=True, throw_on_early_termination=False, **kwargs):
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._join_hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        self._enable, self._throw = enable, throw_on_early_termination
        self._process_group = common([joinable.join_process_group for joinable in joinables], "process group")
        self._device = common([joinable.join_device for joinable in joinables], "device", any_will_do=True)
        for i, joinable in enumerate(joinables):
            joinable._join_config = _JoinConfig(enable, throw_on_early_termination, is_first_joinable=i == 0)

    def __enter__(self):
        return None

    def __exit__(self, kind, value, traceback):
        """Shadow the ranks that are still at work, then make the last step together."""
        if not self._enable or kind is not None:
            return
        is_last_joiner, iterations = True, 0
        report("joined")
        while self._active_ranks():
            if self._throw:
                self._tell_all_to_throw()
            for hook in self._join_hooks:
                hook.main_hook()
            is_last_joiner, iterations = False, iterations + 1
            if iterations == WARN_AFTER:
                warnings.warn(UNEVEN.format(n=WARN_AFTER, rank=self._process_group.rank()), stacklevel=2)
        report("ending")
        for hook in self._join_hooks:
            hook.post_hook(is_last_joiner)
        report("ended")

    def _active_ranks(self):
        """How many ranks are still at work: they add 1, this one 0."""
        count = zeros(1, device=self._device)
        collectives.all_reduce(count, group=self._process_group)
        return int(count.item())

    def _tell_all_to_throw(self):
        collectives.all_reduce(ones(1, device=self._device), group=self._process_group)
        raise RuntimeError(f"Rank {self._process_group.rank()} exhausted all inputs.")

    @staticmethod
    def notify_join_context(joinable):
        """Say that this rank is at work in this iteration: a Work, whose tensor will be the number of active ranks.

        Called by each joinable before its collectives; all but the first get None.
        """
        config = joinable._join_config
        if not config.enable or not config.is_first_joinable:
            return None
        device, group = joinable.join_device, joinable.join_process_group
        work = collectives.all_reduce(ones(1, device=device), group=group, async_op=True)
        if config.throw_on_early_termination:
            should_throw = zeros(1, device=device)
            collectives.all_reduce(should_throw, group=group)
            if should_throw.item():
                raise RuntimeError(
                    "Detected at least one rank that exhausted inputs. Throwing across all ranks."
                )
        return work


def report(phase):
    if observer.active:
        observer.report("join", phase=phase)


def common(values, what, any_will_do=False):
    """The value that all joinables have."""
    if not any_will_do and any(value is not values[0] for value in values):
        raise ValueError(
            f"Using join context manager with multiple {what}es"
            if what.endswith("s")
            else f"Using join context manager with multiple {what}s"
        )
    return values[0]
