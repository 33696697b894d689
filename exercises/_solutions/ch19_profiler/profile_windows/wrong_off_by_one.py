"""Saves one step late, which is never."""

FAILS = "test_cycle"
SAYS = "the last active step saves"


NONE = "none"
WARMUP = "warmup"
RECORD = "record"
RECORD_AND_SAVE = "record_and_save"


def action(step, wait, warmup, active, repeat=0, skip_first=0):
    """What the profiler does in this step: NONE, WARMUP, RECORD or RECORD_AND_SAVE."""
    if step < skip_first:
        return NONE
    cycle, place = divmod(step - skip_first, wait + warmup + active)
    if repeat and cycle >= repeat or place < wait:
        return NONE
    if place < wait + warmup:
        return WARMUP
    return RECORD_AND_SAVE if place == wait + warmup + active else RECORD


def windows(steps, **schedule):
    """The windows that are handed over in a loop of so many steps: a list of lists of step numbers.

    A window that the end of the loop cuts short is handed over as it is; a warm-up never is.
    """
    found, window = [], []
    for step in range(steps):
        now = action(step, **schedule)
        if now in (RECORD, RECORD_AND_SAVE):
            window.append(step)
        if now == RECORD_AND_SAVE:
            found.append(window)
            window = []
    return found + ([window] if window else [])
