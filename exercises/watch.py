"""Grade the exercise at hand whenever its file is saved; single keys do the rest."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

from exercises import catalog, lessons, picture, show
from exercises.results import Limits, Result
from exercises.workspace import Workspace

KEYS = "n next   h hint   l list   c check all   x reset   v picture   t how torch does it   q quit"
POLL_SECONDS = 0.3


class Watch:
    """The loop of `watch`."""

    def __init__(
        self, workspace: Workspace, limits: Limits, chosen: tuple[catalog.Exercise, ...] | None = None
    ) -> None:
        """chosen: the exercises to go through (None: all)."""
        self.workspace, self.limits = workspace, limits
        self.chosen = chosen or catalog.exercises()
        self.last: Result | None = None
        self.actions = {
            "n": self.next, "h": self.hint, "l": self.list, "c": self.check_all,
            "x": self.reset, "v": self.picture, "t": self.torch, "q": self.quit,
        }  # fmt: skip
        self.running = True

    def run(self, start: catalog.Exercise | None) -> int:
        """Watch until `q`, Ctrl-C or the end of the input. Returns the exit code."""
        self._go_to(start or self._remembered())
        with keys() as pressed:
            while self.running:
                self._grade_if_saved()
                key = pressed(POLL_SECONDS)
                if key is None:
                    break
                self.actions.get(key.lower(), lambda: None)()
        return 0

    def next(self) -> None:
        """Go to the next exercise that is not passed."""
        place = self.chosen.index(self.exercise)
        after = self.chosen[place + 1 :] + self.chosen[:place]
        passed = self.workspace.state().passed
        open_ones = [each for each in after if each.name not in passed]
        if open_ones:
            self._go_to(open_ones[0])
        else:
            print("every other exercise is passed")

    def hint(self) -> None:
        """The next hint."""
        print(lessons.hint(self.workspace, self.exercise))

    def list(self) -> None:
        """The table of exercises."""
        state = self.workspace.state()
        print(show.listing(self.chosen, state.passed, self.exercise.name, state.tried))

    def check_all(self) -> None:
        """Grade everything, one line each."""
        lessons.check(self.workspace, list(self.chosen), self.limits, show.tell_briefly)

    def reset(self) -> None:
        """Put the starter back, after a question."""
        print(f"put the starter of {self.exercise.name} back? [y/n] ", end="", flush=True)
        self.actions = {**self.actions, "y": self._reset_now, "n": self._reset_not}

    def _reset_now(self) -> None:
        print(f"the starter is back; your file is kept as {self.workspace.reset(self.exercise)}")
        self._forget_question()

    def _reset_not(self) -> None:
        print("nothing changed")
        self._forget_question()

    def _forget_question(self) -> None:
        self.actions = {**self.actions, "n": self.next}
        self.actions.pop("y", None)

    def picture(self) -> None:
        """Where the page with the last result is."""
        print(f"open {self.workspace.private / 'now.html'} (it follows your next runs)")

    def torch(self) -> None:
        """How PyTorch does it."""
        print(lessons.how_torch_does_it(self.exercise))

    def quit(self) -> None:
        """Leave."""
        self.running = False

    def _remembered(self) -> catalog.Exercise:
        state = self.workspace.state()
        open_ones = [each for each in self.chosen if each.name not in state.passed]
        at_hand = (each for each in self.chosen if each.name == state.current)
        return next(at_hand, (open_ones or self.chosen)[0])

    def _go_to(self, exercise: catalog.Exercise) -> None:
        self.exercise, self.saved = exercise, None
        state = self.workspace.state()
        state.current = exercise.name
        self.workspace.keep(state)

    def _grade_if_saved(self) -> None:
        saved = _modified(self.workspace.file(self.exercise))
        if saved == self.saved:
            return
        self.saved = saved
        print(f"\n{time.strftime('%H:%M:%S')}  grading {self.workspace.file(self.exercise)} ...", flush=True)
        (self.last,) = lessons.check(self.workspace, [self.exercise], self.limits, _say_nothing)
        self.workspace.write("now.html", picture.page(self.last))
        print(show.details(self.last))
        print(self._next_step() + "\n" + show.paint(KEYS, "dim"), flush=True)

    def _next_step(self) -> str:
        if not self.last.passed:
            return ""
        return f"passed. `solution {self.exercise.name}` shows the reference; n goes on."


@contextlib.contextmanager
def keys():
    """A function that waits some seconds for a key: the key, "" for none, None at the end of the input."""
    if os.name == "nt":
        yield _windows_key
    elif sys.stdin.isatty():
        with _single_keys():
            yield _posix_key
    else:
        yield _posix_key


@contextlib.contextmanager
def _single_keys():
    """The terminal gives each key at once and does not echo it; Ctrl-C stays Ctrl-C."""
    import termios
    import tty

    before = termios.tcgetattr(0)
    tty.setcbreak(0)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def _posix_key(seconds: float) -> str | None:
    import select

    if not select.select([0], [], [], seconds)[0]:
        return ""
    byte = os.read(0, 1)
    return byte.decode("latin-1") if byte else None


def _windows_key(seconds: float) -> str | None:
    import msvcrt

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if msvcrt.kbhit():
            return msvcrt.getwch()
        time.sleep(0.02)
    return ""


def _modified(path: Path) -> float:
    return path.stat().st_mtime if path.exists() else 0.0


def _say_nothing(result: Result) -> None:
    """The result is shown when it is complete."""
