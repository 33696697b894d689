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
    # solution
    if step < skip_first:
        return NONE
    cycle, place = divmod(step - skip_first, wait + warmup + active)
    if repeat and cycle >= repeat or place < wait:
        return NONE
    if place < wait + warmup:
        return WARMUP
    return RECORD_AND_SAVE if place == wait + warmup + active - 1 else RECORD
    # end of solution


def windows(steps, **schedule):
    """The windows that are handed over in a loop of so many steps: a list of lists of step numbers.

    A window that the end of the loop cuts short is handed over as it is; a warm-up never is.
    """
    # solution
    found, window = [], []
    for step in range(steps):
        now = action(step, **schedule)
        if now in (RECORD, RECORD_AND_SAVE):
            window.append(step)
        if now == RECORD_AND_SAVE:
            found.append(window)
            window = []
    return found + ([window] if window else [])
    # end of solution
