"""Learners' folders that an instructor grades: they are read and stay as they are."""

import json
import shutil

import pytest

from exercises import catalog, cli, submission, workspace


def answer(folder, name, place="ch02_strides/{}.py", wrong=None):
    """Put a solution, or a wrong one, into a learner's folder."""
    file = folder / place.format(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    source = catalog.find(name).solutions / f"{wrong or 'solution'}.py"
    shutil.copyfile(source, file)


def contents(folder):
    """Every file in a folder and what it holds."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def run(capsys):
    """Run a command: exit code, output, errors."""

    def command(*words):
        code = cli.main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command


def test_report_leaves_the_folder_as_it_is(run, tmp_path):
    answer(tmp_path, "offset")
    (tmp_path / ".teachtorch").mkdir()
    (tmp_path / ".teachtorch" / "state.json").write_text('{"passed": [], "hints": {}, "current": ""}')
    before = contents(tmp_path)
    code, out, _ = run("--workspace", tmp_path, "report", "ch02_strides")
    assert code == 1
    assert "5/5" in out
    assert out.count("no file") == 8
    assert contents(tmp_path) == before


def test_report_on_a_folder_that_is_not_there(run, tmp_path):
    code, _, err = run("--workspace", tmp_path / "nobody", "report")
    assert code == 2
    assert "there is no folder" in err
    assert not (tmp_path / "nobody").exists()


def test_report_on_a_set(run, tmp_path):
    """Gradescope's points are those of the set that is graded."""
    answer(tmp_path, "offset")
    results = tmp_path / "results.json"
    run("--workspace", tmp_path, "report", "ch02_strides", "--gradescope", results)
    content = json.loads(results.read_text())
    points = sum(each.points for each in catalog.exercises() if each.set == "ch02_strides")
    assert content["score"] == 5.0
    assert sum(test["max_score"] for test in content["tests"]) == points


def test_report_on_one_exercise(run, tmp_path):
    answer(tmp_path, "offset")
    code, out, _ = run("--workspace", tmp_path, "report", "offset")
    assert code == 0
    assert "total: 5 of 5 points" in out


def test_a_file_at_the_top_is_graded(run, tmp_path):
    answer(tmp_path, "offset", place="{}.py")
    code, _, err = run("--workspace", tmp_path, "report", "offset")
    assert code == 0
    assert "warning" not in err


def test_the_file_in_its_place_comes_first(run, tmp_path):
    answer(tmp_path, "offset")
    answer(tmp_path, "offset", place="{}.py", wrong="wrong_bytes")
    code, _, err = run("--workspace", tmp_path, "report", "offset")
    assert code == 0
    assert "warning: not graded: offset.py (ch02_strides/offset.py is)" in err


def test_files_in_other_places_are_named(run, tmp_path):
    answer(tmp_path, "offset", place="my homework/{}.py")
    answer(tmp_path, "offset", place="offset (1).py")
    code, out, err = run("--workspace", tmp_path, "report", "offset")
    assert code == 1
    assert "no file" in out
    assert "not graded: my homework/offset.py (its place is ch02_strides/offset.py)" in err
    assert "not graded: offset (1).py (no exercise has this name)" in err


def test_what_comes_with_a_workspace_is_no_surprise(tmp_path):
    made = workspace.Workspace(tmp_path)
    made.prepare()
    made.reset(catalog.find("offset"))
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    (tmp_path / "env" / "tool.py").write_text("")
    assert submission.warnings(made) == []
    assert submission.warnings(submission.Submission(tmp_path)) == []


def test_warnings_have_an_end(tmp_path):
    for number in range(15):
        (tmp_path / f"scratch_{number}.py").write_text("")
    found = submission.warnings(submission.Submission(tmp_path))
    assert len(found) == 11
    assert found[-1] == "and 5 more"
    assert submission.warnings(submission.Submission(tmp_path), only_exercises=True) == []


def test_check_warns_of_a_misplaced_answer(run, tmp_path):
    answer(tmp_path, "offset", place="{}.py")
    (tmp_path / "scratch.py").write_text("")
    _, _, err = run("--workspace", tmp_path, "check", "offset")
    assert "not graded: offset.py (ch02_strides/offset.py is)" in err
    assert "scratch" not in err


@pytest.fixture
def learners(tmp_path):
    """Three folders: a solution, a wrong answer, nothing."""
    folders = [tmp_path / "submissions" / name for name in ("ada", "bob", "eve")]
    answer(folders[0], "offset")
    answer(folders[1], "offset", wrong="wrong_no_offset")
    folders[2].mkdir()
    return folders


def test_several_folders_in_one_go(run, learners, tmp_path):
    lines = tmp_path / "class.jsonl"
    before = contents(tmp_path / "submissions")
    code, out, err = run("report", "offset", "expand", *learners, "--jsonl", lines)
    assert code == 0
    assert contents(tmp_path / "submissions") == before
    assert [line.split("  ")[0] for line in out.splitlines()[:3]] == ["ada", "bob", "eve"]
    assert out.splitlines()[0].split(maxsplit=1)[1].startswith("5 of 12 points")
    assert "[1/3] ada: 5 of 12 points" in err
    assert "[3/3] eve: 0 of 12 points" in err
    records = [json.loads(line) for line in lines.read_text().splitlines()]
    assert {record["learner"] for record in records} == {"ada", "bob", "eve"}
    assert len({record["seed"] for record in records}) == 1, "the same random cases for everyone"


def test_saved_reports_give_the_same_class_report(run, learners, tmp_path):
    lines = tmp_path / "class.jsonl"
    graded = run("report", "offset", "expand", *learners, "--jsonl", lines)[1]
    assert run("report", lines)[1] == graded
    assert "5 of 5 points" in run("report", "offset", lines)[1], "a set or an exercise of it"


def test_a_saved_report_without_a_name_is_called_like_its_file(run, tmp_path):
    lines = tmp_path / "grace.jsonl"
    answer(tmp_path / "work", "offset")
    run("--workspace", tmp_path / "work", "report", "offset", "--jsonl", lines)
    assert run("report", lines)[1].startswith("work ")
    records = [{**json.loads(line), "learner": ""} for line in lines.read_text().splitlines()]
    lines.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert run("report", lines)[1].startswith("grace ")


def test_folders_of_the_same_name(tmp_path):
    folders = [tmp_path / name / "exercises" for name in ("ada", "bob")]
    assert [each.name for each in submission.submissions(folders)] == [str(folder) for folder in folders]


def test_gradescope_is_for_one_learner(run, learners, tmp_path):
    code, _, err = run("report", learners[0], "--gradescope", tmp_path / "results.json")
    assert code == 2
    assert "--workspace" in err


def test_word_that_names_nothing(run):
    code, _, err = run("report", "nosuch")
    assert code == 2
    assert "'nosuch' is no exercise, no set, no folder and no saved report" in err
