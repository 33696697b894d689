"""Which steps of a loop are recorded."""
import warnings
from enum import Enum


class ProfilerAction(Enum):
    """What the profiler does in a step; RECORD_AND_SAVE: the last one of a window, handed over at its end."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A function of the step number: skip `skip_first` steps, then cycles of `wait` idle, `warmup` and `active` steps.

    `repeat`: how many cycles; 0 means on and on. `skip_first_wait`: whether the first cycle starts without
    its wait. AssertionError for negative numbers and for `active` 0.
    """
    numbers = {"wait": (wait, 0), "warmup": (warmup, 0), "active": (active, 1), "repeat": (repeat, 0),
               "skip_first": (skip_first, 0)}
    if any([value < least for value, least in numbers.values()]):
        got = ", ".join([f"{name}={value} (need {'>' if least else '>='} 0)"
                         for name, (value, least) in numbers.items()])
        raise AssertionError(f"Invalid profiler schedule arguments. Got {got}.")
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)

    def action_at(step):
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        cycle, place = divmod(step - skip_first + (wait if skip_first_wait else 0), wait + warmup + active)
        if repeat and cycle >= repeat or place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < wait + warmup + active - 1 else ProfilerAction.RECORD_AND_SAVE
    return action_at


def always(step):
    """Without a schedule everything is recorded, and handed over when the block ends."""
    return ProfilerAction.RECORD
