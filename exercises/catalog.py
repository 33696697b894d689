"""What exercises there are, from each set's `exercises.toml` and its test files; nothing is imported."""

from __future__ import annotations

import ast
import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Property:
    """One test function of an exercise: what it asks, and what it is worth."""

    name: str
    title: str
    points: int


@dataclass(frozen=True)
class Exercise:
    """One exercise: a file to fill in, the test file that grades it, and what is said about it."""

    name: str
    set: str
    title: str
    hints: tuple[str, ...]
    torch: str
    imports: tuple[str, ...]
    forbidden: dict[str, str]

    @property
    def file(self) -> str:
        """The learner's file, relative to a workspace."""
        return f"{self.set}/{self.name}.py"

    @property
    def test(self) -> Path:
        """The test file inside the package: the only one that grades."""
        return PACKAGE / self.set / f"test_{self.name}.py"

    @property
    def solutions(self) -> Path:
        """The folder with the reference solution and the wrong ones."""
        return PACKAGE / "_solutions" / self.set / self.name

    @property
    def properties(self) -> tuple[Property, ...]:
        """The properties that the test file declares, in its order."""
        return read_properties(self.test)

    @property
    def points(self) -> int:
        """The points of all properties together."""
        return sum(each.points for each in self.properties)


@functools.cache
def exercises() -> tuple[Exercise, ...]:
    """All exercises in the order of the chapters."""
    tables = sorted(PACKAGE.glob("ch*/exercises.toml"))
    return tuple(each for table in tables for each in read_set(table))


def find(name: str) -> Exercise:
    """The exercise of that name; KeyError lists the names there are."""
    plain = name.removeprefix("exercises/")
    for each in exercises():
        if plain in (each.name, each.file, f"{each.set}/{each.name}"):
            return each
    raise KeyError(f"there is no exercise {name!r}; there are: {', '.join(e.name for e in exercises())}")


def sets() -> tuple[str, ...]:
    """The names of the sets, in the order of the chapters."""
    return tuple(dict.fromkeys(each.set for each in exercises()))


def of_set(name: str) -> tuple[Exercise, ...]:
    """The exercises of a set, by its name or the chapter's number in front of it; none for another name."""
    plain = name.removeprefix("exercises/").rstrip("/")
    return tuple(each for each in exercises() if plain in (each.set, each.set.split("_")[0]))


def read_set(table: Path) -> list[Exercise]:
    """The exercises of one set, from its `exercises.toml`."""
    content = tomllib.loads(table.read_text(encoding="utf-8"))
    shared = {"imports": content.get("imports", []), "forbidden": content.get("forbidden", {})}
    return [_exercise(table.parent.name, row, shared) for row in content["exercise"]]


def _exercise(set_name: str, row: dict, shared: dict) -> Exercise:
    return Exercise(
        name=row["name"],
        set=set_name,
        title=row["title"],
        hints=tuple(text.strip("\n") for text in row["hints"]),
        torch=row["torch"].strip(),
        imports=(*shared["imports"], *row.get("imports", [])),
        forbidden={**shared["forbidden"], **row.get("forbidden", {})},
    )


@functools.cache
def read_properties(test: Path) -> tuple[Property, ...]:
    """The `@points(n, "title")` test functions of a test file."""
    tree = ast.parse(test.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return tuple(
        Property(function.name, *_points(function))
        for function in functions
        if function.name.startswith("test_")
    )


def _points(function: ast.FunctionDef) -> tuple[str, int]:
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "points":
            worth, title = (ast.literal_eval(argument) for argument in decorator.args)
            return title, worth
    raise ValueError(f"{function.name} declares no points: write @points(1, 'what it asks') above it")
