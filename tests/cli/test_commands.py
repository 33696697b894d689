"""The console script as a user meets it, in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from teachtorch.cli import commands as cli

ROOT = Path(__file__).resolve().parents[2]


def teachtorch(*words, cwd=ROOT):
    command = [sys.executable, "-m", "teachtorch", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_version_names_the_packages_underneath():
    done = teachtorch("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("teachtorch ") and "numpy" in done.stdout and "numba" in done.stdout


def test_help_lists_the_commands():
    done = teachtorch("--help")
    assert done.returncode == 0
    assert all(command in done.stdout for command in ("lab", "draw", "exercises"))


@pytest.mark.parametrize("words", [[], ["paint"]])
def test_no_or_an_unknown_command_is_an_error(words):
    done = teachtorch(*words)
    assert done.returncode == 2 and "usage:" in done.stderr


@pytest.mark.parametrize(
    "words, reason",
    [
        (["missing.py"], "no such script"),
        ([__file__, "-o", "graph.gif"], "must end in one of"),
        ([__file__, "-o", "missing_folder/graph.svg"], "there is no folder missing_folder"),
    ],
)
def test_draw_checks_its_paths_before_it_runs_anything(words, reason):
    done = teachtorch("draw", *words)
    assert done.returncode == 1 and reason in done.stderr and "Traceback" not in done.stderr


def options_of(*words):
    known, handed_on = cli.split_at_dashes(list(words))
    options, unknown = cli.make_parser().parse_known_args(known)
    return options, unknown + handed_on


@pytest.mark.parametrize("number", ["0", "3", "-5", "many"])
def test_draw_refuses_a_number_of_nodes_that_shows_nothing(number, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["draw", "train.py", f"--max-nodes={number}"])
    assert ended.value.code == 2
    assert f"'{number}' is no whole number of at least 4" in capsys.readouterr().err


def test_options_of_the_script_reach_the_script_in_order():
    options, handed_on = options_of("draw", "train.py", "data.csv", "--epochs", "3", "-o", "g.svg", "-v")
    assert options.script == "train.py" and options.output == "g.svg"
    assert handed_on == ["data.csv", "--epochs", "3", "-v"]


def test_what_follows_two_dashes_is_the_scripts():
    options, handed_on = options_of("draw", "train.py", "-o", "g.svg", "--", "-o", "model.pt", "--", "x")
    assert options.output == "g.svg" and handed_on == ["-o", "model.pt", "--", "x"]


def test_words_after_exercises_are_handed_on_unread(monkeypatch):
    received = []
    monkeypatch.setattr(cli, "exercises", received.append)
    cli.main(["exercises", "check", "--help", "--", "x"])
    assert received == [["check", "--help", "--", "x"]]


def test_a_missing_package_is_explained_with_its_extra(monkeypatch, capsys):
    def need_jupyterlab(arguments):
        raise ModuleNotFoundError("No module named 'jupyterlab'", name="jupyterlab")

    monkeypatch.setattr(cli, "exercises", need_jupyterlab)
    assert cli.main(["exercises"]) == 1
    assert "pip install 'teachtorch[lab]'" in capsys.readouterr().err


def test_a_missing_module_of_our_own_is_not_hidden(monkeypatch):
    def need_ourselves(arguments):
        raise ModuleNotFoundError("No module named 'teachtorch.gone'", name="teachtorch.gone")

    monkeypatch.setattr(cli, "exercises", need_ourselves)
    with pytest.raises(ModuleNotFoundError):
        cli.main(["exercises"])
