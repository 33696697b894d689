"""Results as text for a terminal."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Callable

from exercises.catalog import Exercise
from exercises.results import Outcome, Result

CODES = {"green": "32", "red": "31", "yellow": "33", "dim": "2", "bold": "1"}
PRINTED_LINES, PRINTED_WIDTH = 20, 80
LABELS = {"passed": ("pass", "green"), "todo": ("todo", "yellow"), "not run": ("skip", "yellow")}


def paint(text: str, colour: str) -> str:
    """The text in a colour where the terminal has one and NO_COLOR is not set."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty()
    return text if plain else f"\033[{CODES[colour]}m{text}\033[0m"


def headline(result: Result) -> str:
    """One line: the exercise and its points."""
    colour = "green" if result.passed else "yellow" if _untouched(result) else "red"
    word = "passed" if result.passed else _word(result)
    points = f"{result.score}/{result.exercise.points}"
    line = f"{paint(word.ljust(11), colour)}  {points:>5}  {result.exercise.name:<18} {result.exercise.title}"
    return line + (f"\n{indented(result.note)}" if result.note else "")


def tell_briefly(result: Result) -> None:
    """Print the headline."""
    print(headline(result), flush=True)


def details(result: Result) -> str:
    """Every property of one result, with the whole message of the first that fails."""
    if result.problem == "no file":
        return headline(result)
    if result.problem:
        return "\n".join([headline(result), indented(result.message), _printed(result.printed)]).rstrip()
    first = next((each for each in result.outcomes if not each.passed), None)
    lines = [headline(result)]
    for outcome in result.outcomes:
        lines.append(_line(outcome))
        lines += [indented(outcome.message), _printed(outcome.printed)] if outcome is first else []
    lines += (
        [f"  random cases: repeat them with --seed {result.seed}"] if first and not _untouched(result) else []
    )
    return "\n".join(line for line in lines if line)


def listing(exercises: tuple[Exercise, ...], passed: list[str], current: str, tried: dict | None = None) -> str:
    """The table of all exercises. tried: of those that were graded, how many of how many properties held."""
    lines = [_row(each, _progress(each.name, passed, tried or {}), each.name == current) for each in exercises]
    done = sum(each.points for each in exercises if each.name in passed)
    return "\n".join([*lines, f"{done} of {sum(each.points for each in exercises)} points"])


def indented(text: str) -> str:
    """The text, moved under its headline."""
    return "\n".join("       " + line for line in text.splitlines())


class Progress:
    """One line on the terminal that says what is being graded; nothing where there is no terminal."""

    def __init__(self) -> None:
        self.seen = sys.stderr.isatty()

    def __call__(self, exercise: Exercise, title: str) -> None:
        """Show the property whose test begins."""
        self._write(f"\r\033[K{exercise.name}: {title} ..."[:79])

    def before(self, tell: Callable) -> Callable:
        """The same `tell`, with the line taken away first."""

        def clear_and_tell(result: Result) -> None:
            self.clear()
            tell(result)

        return clear_and_tell

    def clear(self) -> None:
        """Take the line away."""
        self._write("\r\033[K")

    def _write(self, text: str) -> None:
        if self.seen:
            print(text, end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def progress():
    """A Progress whose line is gone afterwards, whatever happens."""
    line = Progress()
    try:
        yield line
    finally:
        line.clear()


def _progress(name: str, passed: list[str], tried: dict) -> str:
    """"passed", "3 of 5", or nothing; always of one width."""
    if name in passed:
        return paint("passed ", "green")
    held, of = tried.get(name, (0, 0))
    return paint(f"{held} of {of}".ljust(7), "yellow") if held else " " * 7


def _row(exercise: Exercise, progress: str, current: bool) -> str:
    return f"{'>' if current else ' '} {progress}  {exercise.points:>2}  {exercise.file:<32} {exercise.title}"


def _line(outcome: Outcome) -> str:
    word, colour = LABELS.get(outcome.kind, ("FAIL", "red"))
    worth = f"{outcome.property.points} point" + ("s" if outcome.property.points != 1 else " ")
    return f"  {paint(word, colour)} {worth}  {outcome.property.title}"


def _printed(text: str) -> str:
    if not text.strip():
        return ""
    lines = [_repeated(line, len(list(same))) for line, same in itertools.groupby(text.splitlines())]
    more = ["..."] if len(lines) > PRINTED_LINES else []
    return indented("\n".join(["printed:", *lines[:PRINTED_LINES], *more]))


def _repeated(line: str, times: int) -> str:
    """A printed line, cut, and how often it came in a row."""
    shown = line if len(line) <= PRINTED_WIDTH else line[: PRINTED_WIDTH - 4] + " ..."
    return f"| {shown}" + (f"   ({times} times)" if times > 1 else "")


def _word(result: Result) -> str:
    if result.problem == "no file":
        return "no file"
    return "not started" if _untouched(result) else "not yet"


def _untouched(result: Result) -> bool:
    if result.problem:
        return result.problem == "no file"
    return all(each.kind == "todo" for each in result.outcomes)
