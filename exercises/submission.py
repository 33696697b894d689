"""A learner's folder that is graded from outside: read, and never written to."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from exercises import catalog

MOST_WARNINGS = 10
NOT_ANSWERS = ("test_", "conftest.py", "__init__.py")


class Submission:
    """A folder with answers. Each lies in the folder of its set or, if it is not there, at the top."""

    def __init__(self, folder: Path, name: str = "") -> None:
        """folder: the answers. name: the learner's, for the records."""
        self.folder, self.name = folder, name

    def file(self, exercise: catalog.Exercise) -> Path:
        """Where the answer to an exercise lies, or where it should."""
        placed, at_top = self.folder / exercise.file, self.folder / f"{exercise.name}.py"
        return at_top if at_top.is_file() and not placed.is_file() else placed


def submissions(folders: list[Path]) -> list[Submission]:
    """The folders with their learners' names: the folder's own, or its path where two are called the same."""
    names = [folder.resolve().name for folder in folders]
    count = Counter(names)
    return [
        Submission(folder, name if count[name] == 1 else str(folder)) for folder, name in zip(folders, names)
    ]


def warnings(place, only_exercises: bool = False) -> list[str]:
    """What to say about Python files that lie where nothing is graded.

    place: a Submission or a Workspace: has `folder`, and `file(exercise)`. only_exercises: say nothing about
    files that are not called like an exercise.
    """
    if place.folder.resolve() == catalog.PACKAGE:
        return []
    graded = {place.file(each) for each in catalog.exercises()}
    names = {each.name for each in catalog.exercises()}
    lost = [path for path in _python_files(place.folder) if path not in graded]
    lost = [path for path in lost if path.stem in names or not only_exercises]
    texts = [_warning(path, place) for path in lost[:MOST_WARNINGS]]
    return texts + ([f"and {len(lost) - MOST_WARNINGS} more"] if len(lost) > MOST_WARNINGS else [])


def _warning(path: Path, place) -> str:
    shown = path.relative_to(place.folder)
    for each in catalog.exercises():
        if path.stem == each.name:
            return _misplaced(shown, place, each)
    return f"not graded: {shown} (no exercise has this name)"


def _misplaced(shown: Path, place, exercise: catalog.Exercise) -> str:
    if place.file(exercise).is_file():
        return f"not graded: {shown} ({place.file(exercise).relative_to(place.folder)} is)"
    return f"not graded: {shown} (its place is {exercise.file})"


def _python_files(folder: Path) -> list[Path]:
    """The Python files in a folder that could be answers; environments and hidden folders are left out."""
    found = []
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_skipped(Path(here, name)))
        found += [Path(here, name) for name in sorted(files) if _could_be_answer(name)]
    return found


def _is_skipped(folder: Path) -> bool:
    return folder.name.startswith((".", "_")) or (folder / "pyvenv.cfg").exists()


def _could_be_answer(name: str) -> bool:
    return name.endswith(".py") and not name.startswith(NOT_ANSWERS)
