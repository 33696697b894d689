"""run.py, which must work before anything is installed and say what to do when it cannot."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

RUN_PY = Path(__file__).resolve().parents[2] / "run.py"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A copy of the module run.py that keeps its .venv in a temporary folder."""
    spec = importlib.util.spec_from_file_location("run_py", RUN_PY)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "VENV", str(tmp_path))
    monkeypatch.setattr(module, "LOG", str(tmp_path / "install.log"))
    return module


def test_an_old_python_can_read_it_and_it_needs_the_standard_library_only():
    tree = ast.parse(RUN_PY.read_text(encoding="utf-8"), feature_version=(3, 6))
    imported = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert set(imported) <= sys.stdlib_module_names
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]


def test_supported_versions_are_those_of_the_package(run):
    assert run.project_table()["requires-python"] == ">=3.11,<3.14"
    versions = [(3, 10, 14), (3, 11, 0), (3, 13, 9), (3, 14, 0)]
    assert [run.is_supported(version) for version in versions] == [False, True, True, False]


def test_words_it_does_not_know_are_handed_on_in_order(run):
    options, handed_on = run.parse(["test", "-k", "strides", "--without-torch", "-x", "tests/core"])
    assert options.command == "test" and options.without_torch
    assert handed_on == ["-k", "strides", "-x", "tests/core"]


def test_no_supported_python_is_said_with_what_to_do(run, monkeypatch, capsys):
    monkeypatch.setattr(run, "is_supported", lambda version: False)
    assert run.main(["lab"]) == 1
    said = capsys.readouterr().err
    assert "needs Python 3.11 to 3.13" in said and "Install one" in said


def test_a_python_that_does_not_start_is_passed_over(run, tmp_path):
    assert run.starts_supported([sys.executable])
    assert not run.starts_supported([str(tmp_path / "no_such_python")])
    assert not run.starts_supported([sys.executable, "-c", "raise SystemExit(127)"])


def failing(*lines):
    return [sys.executable, "-c", f"print({chr(10).join(lines)!r}); raise SystemExit(1)"]


@pytest.mark.parametrize(
    "line, advice",
    [
        ("Connection refused", "Check the connection"),
        ("OSError: No space left on device", "The disk is full"),
        ("ERROR: No matching distribution found for numpy", "No package was found for this system"),
    ],
)
def test_a_failed_installation_shows_its_last_lines_and_what_to_do(run, line, advice):
    with pytest.raises(run.SetupError) as raised, run.Step("Installing") as step:
        run.run_installer(failing("early line", *["middle"] * 30, line), step)
    said = str(raised.value)
    assert line in said and advice in said and "early line" not in said
    assert "early line" in Path(run.LOG).read_text()


def test_what_is_installed_is_not_installed_again(run, monkeypatch):
    installed = []
    monkeypatch.setattr(run, "run_installer", lambda command, step: installed.append(command))
    monkeypatch.setattr(run.shutil, "which", lambda name: None)
    run.install("test", ["test"])
    run.install("test", ["test"])
    assert len(installed) == 1
    monkeypatch.setattr(run, "project_table", lambda: {"dependencies": ["numpy>=3"]})
    run.install("test", ["test"])
    assert len(installed) == 2


def test_pip_installs_where_uv_cannot(run, monkeypatch):
    tried = []

    def installer(command, step):
        tried.append("uv" if command[0] == "uv" else "pip")
        if command[0] == "uv":
            raise run.SetupError("uv knows no such index")

    monkeypatch.setattr(run, "run_installer", installer)
    monkeypatch.setattr(run.shutil, "which", lambda name: f"/bin/{name}")
    run.install("test", ["test"])
    assert tried == ["uv", "pip"]


def refuse(run):
    def installer(command, step):
        raise run.SetupError("No matching distribution found for torch")

    return installer


def test_without_a_wheel_of_torch_the_tests_go_on_and_say_so(run, monkeypatch, capsys):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(run, "run_installer", refuse(run))
    run.install_oracle()
    assert "tests that compare with it are skipped" in capsys.readouterr().out


def test_on_ci_a_missing_torch_is_an_error(run, monkeypatch):
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(run, "run_installer", refuse(run))
    with pytest.raises(run.SetupError):
        run.install_oracle()


def test_ctrl_c_ends_with_one_line(run, monkeypatch, capsys):
    def interrupted(options, handed_on):
        raise KeyboardInterrupt

    monkeypatch.setitem(run.COMMANDS, "test", interrupted)
    assert run.main(["test"]) == 130
    assert "Interrupted" in capsys.readouterr().err


def test_without_venv_and_pip_it_says_what_to_install(run, monkeypatch):
    monkeypatch.setattr(run, "can_import", lambda name: False)
    monkeypatch.setattr(run.shutil, "which", lambda name: None)
    monkeypatch.setattr(run, "succeeds", lambda command, log: True)
    with pytest.raises(run.SetupError, match="apt install python3-venv"):
        run.make_venv()


def test_without_ensurepip_the_systems_pip_fills_the_environment(run, monkeypatch):
    commands = []
    monkeypatch.setattr(run, "can_import", lambda name: name == "pip")
    monkeypatch.setattr(run.shutil, "which", lambda name: None)
    monkeypatch.setattr(run, "succeeds", lambda command, log: commands.append(command) or True)
    run.make_venv()
    assert "--without-pip" in commands[0]
    assert commands[1][1:4] == ["-m", "pip", "--python"]
