"""Reports: text, JSON lines, Gradescope's results.json, and the one over a class."""

import json

import pytest

from exercises import catalog, report
from exercises.results import Outcome, Result


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
    records = [
        json.loads(line)
        for line in report.jsonl(report.rows([result("test_any_strides")], "ada")).splitlines()
    ]
    assert [record["property"] for record in records] == [p.name for p in catalog.find("offset").properties]
    assert [record["score"] for record in records] == [1, 1, 0, 1, 1]
    assert records[2]["status"] == "wrong"
    assert records[0]["seed"] == 7
    assert {record["learner"] for record in records} == {"ada"}


def test_text_says_points():
    text = report.text([result("test_any_strides"), result(name="expand")])
    assert "4/5" in text
    assert "total: 11 of 12 points" in text


def test_printed_spam_is_cut():
    graded = result("test_any_strides")
    counted = "".join(f"{number}\n" for number in range(500))
    graded.outcomes[2].printed = f"short\n{'x' * 3000}\n" + "again\n" * 500 + counted
    lines = report.text([graded]).splitlines()
    shown = [line.strip() for line in lines if line.strip().startswith("| ")]
    assert shown[0] == "| short"
    assert shown[1] == f"| {'x' * 76} ..."
    assert shown[2] == "| again   (500 times)"
    assert shown[-1] == "| 16"
    assert lines[lines.index(f"       {shown[-1]}") + 1].strip() == "..."


def not_started(name):
    """A result of a starter."""
    graded = result(name=name)
    for outcome in graded.outcomes:
        outcome.kind, outcome.message = "todo", "not written yet"
    return graded


def class_of(**learners):
    """The class report over these results, without its indentation."""
    return report.class_report([(name, report.rows(results, name)) for name, results in learners.items()])


def test_class_report_has_a_line_for_each_learner():
    lines = class_of(
        ada=[result("test_storage_offset"), not_started("expand")],
        grace=[result(), result(name="expand")],
    ).splitlines()
    assert lines[0] == "ada       4 of 12 points    0 passed,  1 not yet,  1 not started"
    assert lines[1] == "grace    12 of 12 points    2 passed,  0 not yet,  0 not started"
    assert lines[2] == "2 learners, 8.0 points on average"


def test_class_report_names_what_fails_most():
    text = class_of(
        ada=[result("test_storage_offset")],
        bob=[result("test_storage_offset", "test_negative_index")],
        eve=[result()],
    )
    assert "2 of 3    offset             the storage_offset is where" in text
    assert "fails most: offset, the storage_offset is where the tensor begins. Most often (2 of 2) so:" in text
    assert "expected 2 in test_storage_offset" in text
    assert text.index("the storage_offset is where") < text.index("a negative index counts")


def test_what_was_not_started_does_not_fail():
    text = class_of(
        ada=[result("test_storage_offset"), not_started("expand")],
        bob=[not_started("offset"), not_started("expand")],
    )
    assert "  1 of 1    offset" in text, "bob has not started it, so it is one of one"
    assert "expand" not in text


def test_a_missing_file_is_not_started():
    text = class_of(ada=[result(problem="no file")])
    assert "1 not started" in text
    assert "nothing failed" in text


def test_what_is_not_written_yet_is_counted_apart():
    half = result("test_negative_index", "test_out_of_bounds")
    half.outcomes[4].kind = "todo"
    text = class_of(ada=[half], bob=[result("test_out_of_bounds")])
    title = half.outcomes[4].property.title
    assert f"  1 of 2    offset             {title} (1 not written yet)" in text


def test_at_most_ten_properties():
    names = [each.name for each in catalog.exercises() if each.set == "ch02_strides"]
    everything = [result(*(p.name for p in catalog.find(name).properties), name=name) for name in names]
    text = class_of(ada=everything)
    assert sum(line.startswith("    1 of 1 ") for line in text.splitlines()) == 10


def test_class_report_without_a_failure():
    assert "nothing failed" in class_of(ada=[result()])


def test_records_of_several_learners_in_one_file():
    records = report.rows([result()], "ada") + report.rows([result()], "bob") + report.rows([result()])
    assert [name for name, _ in report.by_learner(records, "the_file")] == ["ada", "bob", "the_file"]


@pytest.mark.parametrize("line", ["not json", "[]", '{"exercise": "offset"}'])
def test_a_line_that_is_no_report_is_named(tmp_path, line):
    file = tmp_path / "broken.jsonl"
    file.write_text(report.jsonl(report.rows([result()])) + line + "\n")
    with pytest.raises(ValueError, match="line 6"):
        report.read(file)
