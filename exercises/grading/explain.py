"""What went wrong, said to the learner: a kind and a text, from an exception that came out of a test."""

from __future__ import annotations

import linecache
import traceback
from pathlib import Path

from exercises.grading import calls
from exercises.grading.compare import Mismatch
from exercises.grading.guard import NotAllowed
from exercises.grading.loading import Missing

LONGEST = 4000


def explain(error: BaseException, file: str, memory_mb: int) -> tuple[str, str]:
    """The kind (`wrong`, `todo`, `raised`, `memory`, `missing`, `grader`) and the text for the learner.

    error: what the test raised. file: the learner's file. memory_mb: the limit, for its message.
    """
    kind, text = _explain(error, _place(error, file), memory_mb)
    return kind, text[:LONGEST]


def explain_import(error: BaseException, file: str, memory_mb: int) -> tuple[str, str]:
    """The same for an exception while the learner's file was imported."""
    if isinstance(error, SyntaxError) and not _place(error, file):
        return "syntax", f"Python cannot read your file: {_syntax(error)}"
    if isinstance(error, NotAllowed):
        return "not allowed", str(error)
    kind, text = _explain(error, _place(error, file), memory_mb)
    return ("memory" if kind == "memory" else "import"), f"your file could not be imported: {text}"[:LONGEST]


def _explain(error: BaseException, place: str, memory_mb: int) -> tuple[str, str]:
    if isinstance(error, Mismatch):
        return "wrong", str(error)
    if isinstance(error, Missing):
        return "missing", str(error)
    if isinstance(error, NotImplementedError) and place:
        return "todo", f"not written yet{place}"
    if isinstance(error, MemoryError):
        return "memory", f"your code asked for more memory than the {memory_mb} MB that a test may use{place}"
    if isinstance(error, RecursionError) and place:
        return "raised", f"your code called itself too often (RecursionError){place}"
    if isinstance(error, SystemExit):
        return "raised", f"your code called sys.exit({error.code!r}); a function returns its answer{place}"
    if not place and not calls.last():
        return "grader", f"the test itself failed, not your code; please report it:\n{_traceback(error)}"
    if not place:
        said = f"the test could not go on with what your code gave it: {_headline(error)}"
        return "raised", f"{_called()}{said}{_in_the_test(error)}"
    return "raised", f"{_called()}your code raised {_headline(error)}{place}"


def _called() -> str:
    return f"{calls.last()}\n" if calls.last() else ""


def _headline(error: BaseException) -> str:
    return traceback.format_exception_only(error)[-1].strip()[:600]


def _place(error: BaseException, file: str) -> str:
    """The deepest line of the learner's file in the traceback."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return at_line(file, frames[-1].lineno) if frames else ""


def _in_the_test(error: BaseException) -> str:
    """The deepest line of the test file in the traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in frames if Path(frame.filename).name.startswith("test_")]
    return at_line(frames[-1].filename, frames[-1].lineno, " of the test") if frames else ""


def at_line(file: str, number: int | None, of: str = "") -> str:
    """Where in the learner's file, or in another, with the line itself."""
    source = linecache.getline(file, number or 0).strip()
    return f"\n  at line {number}{of}: {source}"


def _syntax(error: SyntaxError) -> str:
    """The line, with a mark where Python gave up; a file that is no text has neither."""
    if not error.text:
        return error.msg
    line, column = error.text.rstrip("\n"), (error.offset or 1) - 1
    return f"line {error.lineno}: {error.msg}\n  {line}\n  {' ' * column}^"


def _traceback(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-1500:]
