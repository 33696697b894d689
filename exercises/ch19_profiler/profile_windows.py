"""Which steps a profiler records, and when it hands a window over.

    step      0     1        2        3        4     5        6        7      8
    wait=1    wait  warm-up  record   save     wait  warm-up  record   save   wait   ...
    warmup=1                          |                                |
    active=2                          handed over when step 3 ends     and when step 7 ends

After `skip_first` steps, cycles of `wait` + `warmup` + `active` steps follow each other, `repeat` of them; `repeat=0`
means on and on. The last active step of a cycle is RECORD_AND_SAVE: when it ends, the window is handed over.
"""

NONE = "none"
WARMUP = "warmup"
RECORD = "record"
RECORD_AND_SAVE = "record_and_save"


def action(step, wait, warmup, active, repeat=0, skip_first=0):
    """What the profiler does in this step: NONE, WARMUP, RECORD or RECORD_AND_SAVE."""
    raise NotImplementedError


def windows(steps, **schedule):
    """The windows that are handed over in a loop of so many steps: a list of lists of step numbers.

    A window that the end of the loop cuts short is handed over as it is; a warm-up never is.
    """
    raise NotImplementedError
