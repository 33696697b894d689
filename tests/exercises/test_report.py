"""Reports: text, JSON lines, Gradescope's results.json, and the one over a class."""

import json

import pytest

from exercises import catalog, report
from exercises.runner import Outcome, Result


def result(*failing, name="offset", problem=""):
    """A result in which these properties fail."""
    exercise = catalog.find(name)
    outcomes = [Outcome(each, "passed", "") for each in exercise.properties]
    for outcome in outcomes:
        if outcome.property.name in failing:
            outcome.kind, outcome.message = "wrong", f"yours 1, expected 2 in {outcome.property.name}"
    return Result(
        exercise, catalog.PACKAGE / exercise.file, 7, outcomes, problem, "it crashed" if problem else ""
    )


GRADESCOPE_TEST = {
    "name": str,
    "number": str,
    "score": float,
    "max_score": float,
    "status": str,
    "output": str,
    "output_format": str,
    "tags": list,
    "visibility": str,
}


def test_gradescope_schema():
    content = json.loads(
        json.dumps(report.gradescope([result("test_storage_offset"), result(name="expand")]))
    )
    assert {type(content[name]) for name in ("score", "execution_time")} == {float}
    assert content["visibility"] in ("hidden", "after_due_date", "after_published", "visible")
    assert content["stdout_visibility"] in ("hidden", "after_due_date", "after_published", "visible")
    for test in content["tests"]:
        assert {name: type(value) for name, value in test.items()} == GRADESCOPE_TEST
        assert test["status"] in ("passed", "failed")
        assert test["output_format"] in ("text", "html", "simple_format", "md", "ansi")
        assert 0 <= test["score"] <= test["max_score"]


def test_gradescope_points():
    content = report.gradescope([result("test_storage_offset")])
    assert content["score"] == sum(test["score"] for test in content["tests"]) == 4.0
    (failed,) = [test for test in content["tests"] if test["status"] == "failed"]
    assert failed["score"] == 0.0
    assert "expected 2" in failed["output"]


def test_a_crash_earns_nothing():
    content = report.gradescope([result(problem="crashed")])
    assert content["score"] == 0.0
    assert {test["output"] for test in content["tests"]} == {"it crashed"}


def test_jsonl_has_a_line_for_each_property():
    records = [json.loads(line) for line in report.jsonl([result("test_any_strides")]).splitlines()]
    assert [record["property"] for record in records] == [p.name for p in catalog.find("offset").properties]
    assert [record["score"] for record in records] == [1, 1, 0, 1, 1]
    assert records[2]["status"] == "wrong"
    assert records[0]["seed"] == 7


def test_text_says_points():
    text = report.text([result("test_any_strides"), result(name="expand")])
    assert "4/5" in text
    assert "total: 11 of 12 points" in text


def test_printed_spam_is_cut():
    graded = result("test_any_strides")
    graded.outcomes[2].printed = f"short\n{'x' * 3000}\n" + "more\n" * 500
    lines = report.text([graded]).splitlines()
    shown = [line.strip() for line in lines if line.strip().startswith("| ")]
    assert shown[0] == "| short"
    assert shown[1] == f"| {'x' * 76} ..."
    assert len(shown) == 20
    assert lines[lines.index(next(line for line in lines if line.endswith("| more"))) + 18].strip() == "..."


def test_class_report_names_what_fails_most(tmp_path):
    learners = {
        "ada": result("test_storage_offset"),
        "bob": result("test_storage_offset", "test_negative_index"),
        "eve": result(),
    }
    files = []
    for name, each in learners.items():
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text(report.jsonl([each]))
    text = report.class_report([report.read(file) for file in files])
    assert text.splitlines()[0] == "3 reports, 4.0 points on average"
    assert "fails most: offset, test_storage_offset. Most often (2 of 2)" in text
    assert "expected 2 in test_storage_offset" in text
    assert text.index("the storage_offset is where") < text.index("a negative index counts")


def test_class_report_without_a_failure():
    assert "nothing failed" in report.class_report([report.rows([result()])])


@pytest.mark.parametrize("line", ["not json", "[]", '{"exercise": "offset"}'])
def test_a_line_that_is_no_report_is_named(tmp_path, line):
    file = tmp_path / "broken.jsonl"
    file.write_text(report.jsonl([result()]) + line + "\n")
    with pytest.raises(ValueError, match="line 6"):
        report.read(file)
