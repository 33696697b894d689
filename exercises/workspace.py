"""Where a learner's files and progress live.

The workspace is the folder that TEACHTORCH_EXERCISES names. Without it, it is `exercises/` itself in a checkout; with
an installed package it is `teachtorch_exercises/` in the current folder, made by copying the starters. Progress is
kept in `.teachtorch/` inside the workspace.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path

from exercises import catalog

PLACEHOLDER = "raise NotImplementedError"
# A blank line between a docstring and the solution goes away with it.
SOLVED = re.compile(
    r"(?:^\n(?= ))?^( *)# solution\n.*?^\1# end of solution(?:\n|\Z)", re.MULTILINE | re.DOTALL
)
FOLDER = "TEACHTORCH_EXERCISES"
CONFTEST = '''"""Lets plain `pytest` grade the files that lie beside the tests."""

from exercises.grading.fixtures import (  # noqa: F401
    _fresh_calls, _processes, pytest_pyfunc_call, pytest_report_header, ranks, rng, yours
)
'''


@dataclass
class State:
    """What is remembered between runs: passed exercises, hints shown, the exercise at hand.

    tried: of exercises that were graded, how many of how many properties held the last time.
    """

    passed: list[str] = field(default_factory=list)
    tried: dict[str, tuple[int, int]] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)
    current: str = ""


class Workspace:
    """A folder with the learner's files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.private = folder / ".teachtorch"

    def file(self, exercise: catalog.Exercise) -> Path:
        """The learner's file for an exercise."""
        return self.folder / exercise.file

    def prepare(self) -> list[Path]:
        """Copy the starters, and the tests to read, where there is no file yet; the paths written."""
        written = [self._write(self.file(each), starter(each)) for each in catalog.exercises()]
        if self.folder.resolve() != catalog.PACKAGE:
            self._write(self.folder / "conftest.py", CONFTEST)
            for each in catalog.exercises():
                self._copy(each.test, self.file(each).with_name(each.test.name))
        return [path for path in written if path]

    def reset(self, exercise: catalog.Exercise) -> Path:
        """Put the starter back; the learner's file is kept in `.teachtorch/`, and this returns where."""
        file, kept = self.file(exercise), self.private / f"{exercise.name}.before_reset.py"
        if file.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, kept)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(starter(exercise), encoding="utf-8")
        return kept

    def state(self) -> State:
        """The progress so far; a missing or unreadable file means none."""
        try:
            return State(**json.loads((self.private / "state.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return State()

    def keep(self, state: State) -> None:
        """Write the progress, whole or not at all."""
        self.write("state.json", json.dumps(asdict(state), indent=2) + "\n")

    def write(self, name: str, text: str) -> Path:
        """Write a file of `.teachtorch/`, whole or not at all."""
        self.private.mkdir(parents=True, exist_ok=True)
        path, new = self.private / name, self.private / f"{name}.{os.getpid()}"
        new.write_text(text, encoding="utf-8")
        os.replace(new, path)
        return path

    def _write(self, path: Path, text: str) -> Path | None:
        if path.exists():
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def _copy(self, source: Path, target: Path) -> None:
        if not target.exists():
            shutil.copyfile(source, target)


def default_folder() -> Path:
    """The folder that TEACHTORCH_EXERCISES names; else `exercises/` of a checkout that can be written; else
    `teachtorch_exercises/` here."""
    if os.environ.get(FOLDER):
        return Path(os.environ[FOLDER])
    in_checkout = (catalog.PACKAGE.parent / "pyproject.toml").exists()
    if in_checkout and os.access(catalog.PACKAGE, os.W_OK):
        return catalog.PACKAGE
    return Path("teachtorch_exercises")


def starter(exercise: catalog.Exercise) -> str:
    """The file that a learner starts from: the solution with its marked parts taken out."""
    solution = (exercise.solutions / "solution.py").read_text(encoding="utf-8")
    return SOLVED.sub(_placeholder, solution).rstrip() + "\n"


def _placeholder(part: re.Match) -> str:
    """A body becomes `raise NotImplementedError`; a helper function of the solution goes away."""
    indent = part[1]
    return f"{indent}{PLACEHOLDER}\n" if indent else ""


def write_starters() -> None:
    """For maintainers: write every starter into the package, over what lies there."""
    for exercise in catalog.exercises():
        (catalog.PACKAGE / exercise.file).write_text(starter(exercise), encoding="utf-8")


if __name__ == "__main__":
    write_starters()
