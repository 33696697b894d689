"""A script run by `teachtorch draw` behaves as under `python script.py`, and leaves its variables."""

import sys

import pytest

from teachtorch.cli.script import run_script


@pytest.fixture(autouse=True)
def interpreter_as_before(monkeypatch):
    """run_script gives the whole process to the script; the tests take it back."""
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


def run(tmp_path, source, *arguments):
    script = tmp_path / "script.py"
    script.write_text(source, encoding="utf-8")
    return run_script(script, list(arguments))


def test_variables_are_kept(tmp_path):
    finished = run(tmp_path, "x = 1\nif __name__ == '__main__':\n    x += 1\n")
    assert finished.variables["x"] == 2 and finished.status == 0


def test_arguments_are_the_scripts(tmp_path):
    finished = run(tmp_path, "import sys\nwords = sys.argv", "--epochs", "3")
    assert finished.variables["words"] == [str(tmp_path / "script.py"), "--epochs", "3"]


def test_modules_beside_the_script_are_found(tmp_path):
    (tmp_path / "beside_the_script.py").write_text("y = 5\n")
    assert run(tmp_path, "from beside_the_script import y").variables["y"] == 5


def test_an_error_is_shown_and_the_variables_stay(tmp_path, capfd):
    finished = run(tmp_path, "x = 1\n\ndef fail():\n    raise ValueError('bad')\n\nfail()\n")
    shown = capfd.readouterr().err
    assert finished.status == 1 and finished.variables["x"] == 1
    assert "ValueError: bad" in shown and "line 4, in fail" in shown and "teachtorch" not in shown


def test_a_syntax_error_is_shown_with_its_line(tmp_path, capfd):
    assert run(tmp_path, "x = (1,\n").status == 1
    shown = capfd.readouterr().err
    assert "SyntaxError" in shown and "script.py" in shown


@pytest.mark.parametrize("source, status", [("exit()", 0), ("exit(3)", 3), ("exit('no data')", 1)])
def test_the_exit_status_is_pythons(tmp_path, source, status):
    assert run(tmp_path, f"import sys\nsys.{source}").status == status
