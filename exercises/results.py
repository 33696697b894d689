"""What is graded and how it went: jobs, limits, the outcome of each property, the result of each file."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

from exercises import catalog


@dataclass(frozen=True)
class Limits:
    """What one test may use: wall time, printed bytes, bytes of memory. start_seconds: to start pytest."""

    seconds: float = 5.0
    output_bytes: int = 1 << 20
    memory_bytes: int = 1 << 30
    start_seconds: float = 120.0


@dataclass
class Outcome:
    """How one property went. kind: passed, wrong, todo, raised, missing, timeout, crashed, ..."""

    property: catalog.Property
    kind: str = "not run"
    message: str = "not run"
    seconds: float = 0.0
    printed: str = ""

    @property
    def passed(self) -> bool:
        """Whether the property holds."""
        return self.kind == "passed"

    @property
    def score(self) -> int:
        """The points earned."""
        return self.property.points if self.passed else 0


@dataclass
class Result:
    """How one learner's file did in one exercise."""

    exercise: catalog.Exercise
    file: Path
    seed: int
    outcomes: list[Outcome]
    problem: str = ""
    message: str = ""
    printed: str = ""
    note: str = ""  # about how it was graded
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether every property holds and nothing else went wrong."""
        return not self.problem and all(each.passed for each in self.outcomes)

    @property
    def score(self) -> int:
        """The points earned."""
        return 0 if self.problem else sum(each.score for each in self.outcomes)


@dataclass
class Job:
    """One file to grade. guarded: whether the exercise's rules on imports apply."""

    exercise: catalog.Exercise
    file: Path
    seed: int = field(default_factory=lambda: secrets.randbelow(10**6))
    guarded: bool = True

    def request(self, number: int, done: list[str], snapshot: Path) -> dict:
        """What the child needs to know. snapshot: the copy of the file that is graded."""
        rules = {"imports": self.exercise.imports, "forbidden": list(self.exercise.forbidden.items())}
        names = {
            "id": number,
            "set": self.exercise.set,
            "test": str(self.exercise.test),
            "file": str(self.file),
            "snapshot": str(snapshot),
        }
        return {**names, "seed": self.seed, "done": done, "rules": rules if self.guarded else None}
