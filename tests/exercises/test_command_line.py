"""The commands, as a learner types them."""

import io
import json
import os
import shutil
import subprocess
import sys

import pytest

from exercises import catalog, cli
from exercises.workspace import Workspace


@pytest.fixture
def workspace(tmp_path):
    """A fresh workspace."""
    made = Workspace(tmp_path / "mine")
    made.prepare()
    return made


@pytest.fixture
def run(workspace, capsys):
    """Run a command in the workspace: exit code, output, errors."""

    def command(*arguments):
        try:
            code = cli.main(["--workspace", str(workspace.folder), *arguments])
        except SystemExit as exit:
            code = exit.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command


def solve(workspace, name):
    """Put the solution where the learner's file is."""
    exercise = catalog.find(name)
    shutil.copyfile(exercise.solutions / "solution.py", workspace.file(exercise))


def test_list_shows_what_is_passed(run, workspace):
    code, out, _ = run("list")
    assert code == 0
    assert sum(out.count(f"{each.set}/{each.name}.py") for each in catalog.exercises()) == len(
        catalog.exercises()
    )
    assert "passed" not in out
    solve(workspace, "offset")
    run("check", "offset")
    code, out, _ = run("list")
    assert out.count("passed") == 1
    assert "5 of" in out


def test_list_shows_what_holds_in_part(run, workspace):
    exercise = catalog.find("offset")
    shutil.copyfile(exercise.solutions / "wrong_no_offset.py", workspace.file(exercise))
    run("check", "offset", "contiguous")
    row = next(line for line in run("list")[1].splitlines() if "offset.py" in line)
    held, _, of, *_ = row.split()
    assert 0 < int(held) < int(of) == len(exercise.properties)
    assert "0 of" not in run("list", "contiguous")[1].splitlines()[0], "nothing holds of a starter: that is no news"
    solve(workspace, "offset")
    run("check", "offset")
    assert next(line for line in run("list")[1].splitlines() if "offset.py" in line).split()[0] == "passed"


def test_start_makes_a_folder_of_ones_own(run, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "my exercises"
    code, out, _ = run("start", str(folder))
    assert code == 0
    assert (folder / "ch02_strides" / "offset.py").exists()
    monkeypatch.setenv("TEACHTORCH_EXERCISES", str(folder))
    assert f"TEACHTORCH_EXERCISES='{folder}'" in out
    assert cli.main(["list"]) == 0
    assert "checkout" not in capsys.readouterr().out
    (folder / "ch02_strides" / "offset.py").write_text("mine")
    run("start", str(folder))
    assert (folder / "ch02_strides" / "offset.py").read_text() == "mine"


def test_check_of_a_starter(run):
    code, out, _ = run("check", "offset")
    assert code == 1
    assert "not started" in out
    assert "0/5" in out


def test_check_of_a_solution(run, workspace):
    solve(workspace, "offset")
    code, out, _ = run("check", "offset")
    assert code == 0
    assert "5/5" in out


@pytest.mark.parametrize("name", ["offset", "ch02_strides/offset", "ch02_strides/offset.py"])
def test_names(run, name):
    assert "0/5" in run("check", name)[1]


def test_check_shows_the_first_failure_in_full(run, workspace):
    exercise = catalog.find("offset")
    shutil.copyfile(exercise.solutions / "wrong_no_offset.py", workspace.file(exercise))
    code, out, _ = run("check", "offset", "--seed", "3")
    assert code == 1
    assert "expected  3" in out
    assert "--seed 3" in out
    assert out.count("expected ") == 2, "the message and its picture, once"


def test_check_all(run, workspace):
    solve(workspace, "expand")
    code, out, _ = run("check")
    assert code == 1
    assert out.count("not started") == len(catalog.exercises()) - 1
    assert "7 of" in out


CH02 = [each for each in catalog.exercises() if each.set == "ch02_strides"]


@pytest.mark.parametrize("name", ["ch02_strides", "ch02_strides/", "exercises/ch02_strides", "ch02"])
def test_list_of_a_set(run, name):
    code, out, _ = run("list", name)
    assert code == 0
    assert len(out.splitlines()) == len(CH02) + 1
    assert f"0 of {sum(each.points for each in CH02)} points" in out


def test_list_of_several_names_has_each_once(run):
    out = run("list", "offset", "ch02_strides", "diamond")[1]
    assert len(out.splitlines()) == len(CH02) + 2
    assert out.count("offset.py") == 1


def test_check_of_a_set(run, workspace):
    solve(workspace, "offset")
    code, out, _ = run("check", "ch02_strides")
    assert code == 1
    assert len(out.splitlines()) == len(CH02) + 1, "a line for each exercise, and the sum"
    assert f"5 of {sum(each.points for each in CH02)} points" in out


def test_check_of_a_solved_set(run, workspace):
    for each in CH02:
        solve(workspace, each.name)
    assert run("check", "ch02_strides")[0] == 0


def test_name_of_a_set_is_suggested(run):
    assert "did you mean ch02_strides" in run("check", "ch02_stride")[2]


def test_unknown_name(run):
    code, _, err = run("check", "offfset")
    assert code == 2
    assert "did you mean offset?" in err


def test_name_like_none(run):
    code, _, err = run("hint", "zzzzzz")
    assert code == 2
    assert err == "exercises: there is no exercise 'zzzzzz'; see `list`\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["hint"],
        ["hint", "offset", "--level", "4"],
        ["--seconds", "-1", "list"],
        ["--seconds", "x", "list"],
    ],
)
def test_wrong_usage(run, arguments):
    assert run(*arguments)[0] == 2


@pytest.mark.parametrize("command", ["list", "check", "watch", "hint", "reset", "solution", "report"])
def test_help(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert "usage:" in out
    assert len(out.splitlines()) >= 5


def test_hints_come_one_after_another(run):
    exercise = catalog.find("offset")
    shown = [run("hint", "offset")[1] for _ in range(4)]
    assert [text.splitlines()[0] for text in shown] == [
        "hint 1 of 3, a question:",
        "hint 2 of 3, a picture:",
        "hint 3 of 3, a skeleton:",
        "hint 3 of 3, a skeleton:",
    ]
    assert exercise.hints[0] in shown[0]
    assert exercise.hints[1] in run("hint", "offset", "--level", "2")[1]


def test_solution_only_after_a_pass(run, workspace):
    code, _, err = run("solution", "offset")
    assert code == 2
    assert "once you have passed" in err
    solve(workspace, "offset")
    run("hint", "offset")
    run("check", "offset")
    code, out, _ = run("solution", "offset")
    assert code == 0
    assert "position % size * stride" in out
    assert "# solution" not in out
    assert "how PyTorch does it" in out
    assert "TensorShape.cpp" in out
    assert catalog.find("offset").hints[0] not in out, "this hint was seen already"
    assert "hint 2, a picture:\n" + catalog.find("offset").hints[1] in out
    assert catalog.find("offset").hints[2] not in out, "a skeleton beside the solution says nothing new"


def test_reset_asks(run, workspace, monkeypatch):
    file = workspace.file(catalog.find("offset"))
    file.write_text("mine = 1\n")
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    code, out, _ = run("reset", "offset")
    assert code == 1
    assert "nothing changed" in out
    assert file.read_text() == "mine = 1\n"
    code, out, _ = run("reset", "offset", "--yes")
    assert code == 0
    assert "raise NotImplementedError" in file.read_text()
    assert (workspace.private / "offset.before_reset.py").read_text() == "mine = 1\n"


def test_missing_file(run, workspace):
    exercise = catalog.find("offset")
    os.remove(workspace.file(exercise))
    code, out, err = run("check", "offset")
    assert code == 1
    assert "1 starter files written" in err


def test_a_report_that_cannot_be_written_is_refused_before_anything_is_graded(run, tmp_path, monkeypatch):
    monkeypatch.setattr("exercises.cli.lessons.grade_files", pytest.fail)
    for option in ("--jsonl", "--gradescope"):
        code, _, err = run("report", "offset", option, str(tmp_path / "none" / "report"))
        assert code == 2 and "there is no folder" in err


def test_report_formats(run, workspace, tmp_path):
    solve(workspace, "offset")
    lines, results = tmp_path / "report.jsonl", tmp_path / "results.json"
    code, out, err = run("report", "ch02", "--jsonl", str(lines), "--gradescope", str(results))
    assert code == 1
    assert "total: 5 of" in out
    assert "offset" in err, "progress"
    content = json.loads(results.read_text())
    assert content["score"] == 5.0
    assert len(content["tests"]) == len(lines.read_text().splitlines())
    code, out, _ = run("report", str(lines), str(lines))
    assert code == 0
    assert "2 learners" in out


def test_report_to_standard_output_is_only_json(run):
    _, out, _ = run("report", "ch02_strides", "--jsonl", "-", "--seed", "4")
    assert {json.loads(line)["seed"] for line in out.splitlines()} == {4}


@pytest.mark.parametrize("content", [None, "no json\n", b"\xff\xfe"])
def test_broken_report(run, tmp_path, content):
    file = tmp_path / "learner.jsonl"
    if content:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    code, _, err = run("report", str(file))
    assert code == 2
    assert "learner.jsonl" in err


def test_broken_state_is_no_progress(run, workspace):
    workspace.write("state.json", "{half a fi")
    assert run("list")[0] == 0


def test_workspace_that_cannot_be_written(run, tmp_path, capsys):
    blocked = tmp_path / "a_file"
    blocked.write_text("")
    assert cli.main(["--workspace", str(blocked), "list"]) == 2
    assert "a_file" in capsys.readouterr().err


def test_colours_only_for_a_terminal(run):
    assert "\033[" not in run("list")[1]


def test_installed_package_makes_a_workspace(tmp_path):
    """Away from a checkout the starters are copied into the current folder; the package is left as it is."""
    package = tmp_path / "site" / "exercises"
    shutil.copytree(catalog.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", ".teachtorch"))
    here = tmp_path / "here"
    here.mkdir()
    (here / "json.py").write_text("raise SystemExit(0)\n")
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    before = sorted(package.rglob("*"))
    answer = subprocess.run(
        [sys.executable, "-m", "exercises", "check", "offset"],
        cwd=here,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 1, answer.stderr
    assert "starter files written to teachtorch_exercises" in answer.stderr
    assert (here / "teachtorch_exercises" / "ch02_strides" / "offset.py").exists()
    assert (here / "teachtorch_exercises" / ".teachtorch" / "state.json").exists()
    assert sorted(package.rglob("*")) == before
