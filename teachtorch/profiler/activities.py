"""What can be recorded, and on which kinds of device."""
import warnings
from enum import Enum


class ProfilerActivity(Enum):
    """What is recorded. SIM is the simulated device: PyTorch's name for a device that is none of its own is
    PrivateUse1.

    CUDA, XPU, MTIA and HPU are PyTorch's names: recorded is what PyTorch records on a machine without them.
    """

    CPU = 0
    XPU = 1
    CUDA = 2
    HPU = 3
    MTIA = 4
    PrivateUse1 = 5
    SIM = 5


class DeviceType(Enum):
    """Where an event ran. PrivateUse1 is the simulated device."""

    CPU = 0
    CUDA = 1
    XPU = 12
    HPU = 15
    MTIA = 19
    PrivateUse1 = 20


def supported_activities():
    """The activities that can be recorded, which are also those recorded by default."""
    return {ProfilerActivity.CPU, ProfilerActivity.PrivateUse1}


def parsed(activities):
    """A set of activities. AssertionError if there is none, or one is no ProfilerActivity."""
    found = supported_activities() if activities is None else set(activities)
    if not found or not all([isinstance(activity, ProfilerActivity) for activity in found]):
        raise AssertionError("No valid profiler activities found")
    return found


def available(activities):
    """Those that can be recorded; a warning for each other one. AssertionError if none is left."""
    for activity in activities - supported_activities():
        warnings.warn(f"{activity.name} is not available, disabling {activity.name} profiling", stacklevel=5)
    found = activities & supported_activities()
    if not found:
        raise AssertionError("No activities specified for the profiler")
    return found
