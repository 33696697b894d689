"""Grades profile_windows.py."""

from exercises.grading import equal, points


def letters(yours, steps, **schedule):
    """The actions of the steps, as letters: . none, w warm-up, r record, S record and save."""
    signs = {yours.NONE: ".", yours.WARMUP: "w", yours.RECORD: "r", yours.RECORD_AND_SAVE: "S"}
    return "".join([signs.get(yours.action(step, **schedule), "?") for step in range(steps)])


@points(1, "one cycle")
def test_cycle(yours):
    got = letters(yours, 4, wait=1, warmup=1, active=2)
    equal(got, ".wrS", "wait 1, warm-up 1, active 2; the last active step saves", what="the actions of steps 0 to 3")


@points(1, "cycles follow each other")
def test_cycles(yours):
    got = letters(yours, 10, wait=1, warmup=1, active=2, repeat=2)
    equal(got, ".wrS.wrS..", "two cycles, then nothing", what="the actions of steps 0 to 9")


@points(1, "repeat 0 goes on and on")
def test_forever(yours):
    got = letters(yours, 12, wait=0, warmup=1, active=1, repeat=0)
    equal(got, "wS" * 6, "repeat=0 means that the cycles never stop", what="the actions of steps 0 to 11")


@points(1, "steps can be skipped first")
def test_skip(yours, rng):
    skipped = rng.randint(1, 5)
    got = letters(yours, skipped + 5, wait=1, warmup=1, active=2, repeat=1, skip_first=skipped)
    why = f"{skipped} steps are skipped, and only then the first wait begins"
    equal(got, "." * skipped + ".wrS.", why, what=f"with skip_first={skipped}")


@points(1, "a single active step saves")
def test_single(yours):
    got = letters(yours, 3, wait=1, warmup=1, active=1)
    equal(got, ".wS", "the only active step is also the last one", what="with active=1")


@points(1, "a window holds the active steps, and no warm-up")
def test_windows(yours):
    got = yours.windows(9, wait=1, warmup=1, active=2)
    equal(got, [[2, 3], [6, 7]], "steps 2, 3 and 6, 7 are active; step 8 waits")


@points(1, "a window that is cut short is handed over, a warm-up is not")
def test_cut(yours):
    equal(yours.windows(4, wait=0, warmup=1, active=5), [[1, 2, 3]], "the loop ends in the window: three steps are there")
    equal(yours.windows(2, wait=0, warmup=2, active=1), [], "the loop ends in the warm-up: nothing was recorded")
