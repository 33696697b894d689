"""What is done with an exercise: grade it, hint at it, show its solution."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

from exercises import catalog, show
from exercises.results import Job, Limits, Result
from exercises.runner import grade
from exercises.submission import Submission
from exercises.workspace import Workspace

HINTS = ("a question", "a picture", "a skeleton")


def check(
    workspace: Workspace,
    chosen: list[catalog.Exercise],
    limits: Limits,
    tell: Callable,
    seed: int | None = None,
) -> list[Result]:
    """Grade the learner's files of these exercises; the workspace remembers what passed, and what held in part."""
    results = grade_files(workspace, chosen, limits, tell, seed)
    state = workspace.state()
    for result in results:
        held = sum(outcome.passed for outcome in result.outcomes)
        state.tried[result.exercise.name] = held, len(result.exercise.properties)
    state.passed += [r.exercise.name for r in results if r.passed and r.exercise.name not in state.passed]
    workspace.keep(state)
    return results


def grade_files(
    place: Workspace | Submission,
    chosen: list[catalog.Exercise],
    limits: Limits,
    tell: Callable,
    seed: int | None = None,
) -> list[Result]:
    """Grade the files of these exercises, and write nothing there."""
    jobs = [_job(each, place.file(each), seed) for each in chosen]
    with show.progress() as progress:
        return grade(jobs, limits, progress.before(tell), progress)


def grade_class(
    learners: list[Submission], chosen: list[catalog.Exercise], limits: Limits, seed: int | None = None
) -> Iterator[tuple[Submission, list[Result]]]:
    """Grade one folder after another, all with the same random cases; the results of each when it is done."""
    seed = secrets.randbelow(10**6) if seed is None else seed
    for learner in learners:
        yield learner, grade_files(learner, chosen, limits, _say_nothing, seed)


def hint(workspace: Workspace, exercise: catalog.Exercise, level: int | None = None) -> str:
    """The text of a hint: of this level, or of the one after the last that was shown."""
    state = workspace.state()
    level = level or min(state.hints.get(exercise.name, 0) + 1, len(HINTS))
    state.hints[exercise.name] = max(level, state.hints.get(exercise.name, 0))
    workspace.keep(state)
    more = "" if level == len(HINTS) else f"\n(ask again for {HINTS[level]})"
    return f"hint {level} of {len(HINTS)}, {HINTS[level - 1]}:\n\n{exercise.hints[level - 1]}\n{more}"


def solution(exercise: catalog.Exercise, hints_seen: int) -> str:
    """The reference solution, how PyTorch does it, and the hints that were not needed."""
    source = (exercise.solutions / "solution.py").read_text(encoding="utf-8")
    lines = [line for line in source.splitlines() if line.strip() not in ("# solution", "# end of solution")]
    return "\n".join([*lines, "", how_torch_does_it(exercise), *_unused(exercise, hints_seen)])


def _unused(exercise: catalog.Exercise, seen: int) -> list[str]:
    """The hints that were not shown, but for the last: the solution itself has taken the skeleton's place."""
    numbers = range(seen, len(HINTS) - 1)
    return [f"\nhint {number + 1}, {HINTS[number]}:\n{exercise.hints[number]}" for number in numbers]


def how_torch_does_it(exercise: catalog.Exercise) -> str:
    """Where PyTorch does the same: file and function."""
    return f"how PyTorch does it:\n{exercise.torch}"


def _say_nothing(result: Result) -> None:
    """The results are told when a learner's folder is done."""


def _job(exercise: catalog.Exercise, file: Path, seed: int | None) -> Job:
    return Job(exercise, file.resolve()) if seed is None else Job(exercise, file.resolve(), seed)
