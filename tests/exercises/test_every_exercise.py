"""Each exercise: its starter fails, its solution passes, each wrong solution fails for its own reason."""

import ast
import re

import pytest

from exercises import catalog, manifest, workspace
from exercises.results import Job, Limits
from exercises.runner import grade

EXERCISES = catalog.exercises()
LIMITS = Limits(seconds=60)


def declared(file) -> dict[str, str]:
    """The constants at the top of a wrong solution: what it FAILS, and what the feedback SAYS."""
    assignments = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.Assign)]
    names = {node.targets[0].id: node.value for node in assignments}
    return {name: ast.literal_eval(names[name]) for name in ("FAILS", "SAYS")}


def wrong_files(exercise):
    """The wrong solutions of an exercise."""
    return sorted(exercise.solutions.glob("wrong_*.py"))


def is_on_ranks(exercise):
    """Whether its tests run in several processes, which take longer to start than to grade."""
    return re.search(r"^def test_\w+\(.*\branks\b", exercise.test.read_text(), re.MULTILINE) is not None


ON_RANKS = [exercise for exercise in EXERCISES if is_on_ranks(exercise)]
TOGETHER = [ON_RANKS[0::2], ON_RANKS[1::2], *([each] for each in EXERCISES if each not in ON_RANKS)]


@pytest.mark.parametrize("exercises", TOGETHER, ids=lambda exercises: "-".join(each.name for each in exercises))
def test_starter_fails_solution_passes_wrong_ones_fail(exercises, tmp_path):
    jobs = [Job(exercise, file) for exercise in exercises for file in all_files(exercise, tmp_path)]
    results = grade(jobs, LIMITS)
    for exercise in exercises:
        check_results(exercise, [result for result in results if result.exercise is exercise])


def all_files(exercise, folder):
    """Its starter, its solution, and the wrong ones."""
    starter = folder / f"starter_{exercise.name}.py"
    starter.write_text(workspace.starter(exercise), encoding="utf-8")
    return [starter, exercise.solutions / "solution.py", *wrong_files(exercise)]


def check_results(exercise, results):
    """Those of its files, in the order of all_files."""
    start, solution, *wrong = results
    assert {outcome.kind for outcome in start.outcomes} == {"todo"}
    assert solution.passed, solution
    assert solution.score == exercise.points
    assert [result.file for result in wrong] == wrong_files(exercise)
    for result in wrong:
        check_wrong(result)


def check_wrong(result):
    """A wrong solution fails what it declares, with the words it declares, and does not fail everything."""
    expected = declared(result.file)
    failed = {outcome.property.name: outcome for outcome in result.outcomes if not outcome.passed}
    assert expected["FAILS"] in failed, (result.file, list(failed))
    assert expected["SAYS"] in failed[expected["FAILS"]].message, failed[expected["FAILS"]].message
    assert {outcome.kind for outcome in failed.values()} <= {"wrong", "raised"}
    assert 0 < result.score < result.exercise.points, result.file


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_reasons_differ(exercise):
    reasons = [tuple(declared(file).values()) for file in wrong_files(exercise)]
    assert len(reasons) >= 3
    assert len(set(reasons)) == len(reasons)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_starter_is_laid_out_for_a_reader(exercise):
    """Items of lists go on indented, drawings show one backslash for one, a body follows its docstring."""
    text = workspace.starter(exercise)
    assert "\\\\" not in text, "a raw docstring shows drawings as they are"
    assert not re.search(r'"""\n\n +raise NotImplementedError', text)
    assert not re.search(r"^(- |\d\. ).*\n[a-z]", text, re.MULTILINE), "an item goes on without indentation"


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_texts_are_complete(exercise):
    assert len(exercise.hints) == 3
    assert all(exercise.hints)
    assert "/" in exercise.torch, "names a file of PyTorch"
    titles = [each.title for each in exercise.properties]
    assert len(set(titles)) == len(titles) >= 5
    assert max(len(line) for text in exercise.hints for line in text.splitlines()) <= 130


SETS = ["ch01_paper", "ch02_strides", "ch03_indexing", "ch04_dispatch", "ch05_graph", "ch06_leaf", "ch07_engine", "ch08_gradcheck", "ch09_api", "ch10_modules", "ch11_data", "ch12_optimizers", "ch13_freezing", "ch14_async", "ch15_allocator", "ch16_processes", "ch17_gpu", "ch18_extending", "ch19_profiler", "ch20_serving", "ch21_distributed", "ch22_lightning"]


def test_sets_and_names():
    assert sorted({exercise.set for exercise in EXERCISES}) == SETS
    assert len({exercise.name for exercise in EXERCISES}) == len(EXERCISES) >= 40


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_checkout_holds_the_starter(exercise):
    text = (catalog.PACKAGE / exercise.file).read_text(encoding="utf-8")
    message = f"{exercise.file} is not its starter: `reset {exercise.name}` before a commit"
    assert text == workspace.starter(exercise), message


def test_manifest_is_current():
    assert manifest.shipped() == manifest.current(), "a test file changed: run python -m exercises.manifest"
