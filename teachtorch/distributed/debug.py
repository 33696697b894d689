"""How closely collectives are looked at: TEACHTORCH_DISTRIBUTED_DEBUG, or PyTorch's name of it.

OFF and INFO: the ranks compare what they have begun while it is on its way. DETAIL: they compare before anything
moves, shapes too; every collective then waits for all ranks. https://docs.pytorch.org/docs/stable/distributed.html
"""

import os
from enum import IntEnum

VARIABLES = ("TEACHTORCH_DISTRIBUTED_DEBUG", "TORCH_DISTRIBUTED_DEBUG")


class DebugLevel(IntEnum):
    """The levels; OFF is the default."""

    OFF = 0
    INFO = 1
    DETAIL = 2


_level = DebugLevel.OFF


def get_debug_level():
    """The level in use."""
    return _level


def set_debug_level(level):
    """Use another level from now on. TypeError unless it is a DebugLevel.

    PyTorch's groups keep the level that they were made under.
    """
    global _level
    if not isinstance(level, DebugLevel):
        raise TypeError(f"set_debug_level() takes a DebugLevel, got {level!r}")
    _level = level


def set_debug_level_from_env():
    """Use the level that the environment names, in any case. ValueError if there is no such level."""
    for name in VARIABLES:
        if name in os.environ:
            set_debug_level(level_named(os.environ[name], name))
            return
    set_debug_level(DebugLevel.OFF)


def level_named(word, variable):
    if word.upper() not in DebugLevel.__members__:
        raise ValueError(f"The value of {variable} must be OFF, INFO, or DETAIL.")
    return DebugLevel[word.upper()]


set_debug_level_from_env()
