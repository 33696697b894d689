"""The watch loop, driven by keys on standard input."""

import os
import shutil
import subprocess
import sys

import pytest

from exercises import catalog
from exercises.workspace import Workspace

pytestmark = pytest.mark.skipif(os.name != "posix", reason="keys come from a pipe or a terminal")


@pytest.fixture
def workspace(tmp_path):
    """A workspace in which the first exercise is solved."""
    made = Workspace(tmp_path / "mine")
    made.prepare()
    exercise = catalog.find("offset")
    shutil.copyfile(exercise.solutions / "solution.py", made.file(exercise))
    return made


def command(workspace, *arguments):
    """The command line of watch, and its environment."""
    words = [sys.executable, "-m", "exercises", "--workspace", str(workspace.folder), "watch", *arguments]
    return words, {**os.environ, "PYTHONPATH": str(catalog.PACKAGE.parent)}


def watch(workspace, keys, *arguments):
    """Watch until the keys are used up; what was printed."""
    words, environment = command(workspace, *arguments)
    answer = subprocess.run(words, env=environment, input=keys, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_grades_at_once_and_ends_with_the_input(workspace):
    out = watch(workspace, "", "offset")
    assert "grading" in out
    assert "5/5" in out
    assert "n next" in out


def test_next_goes_to_an_exercise_that_is_open(workspace):
    out = watch(workspace, "nq", "offset")
    assert "contiguous" not in out.split("n next")[0]
    assert workspace.state().current == "contiguous"


def test_keys(workspace):
    out = watch(workspace, "htlvq", "expand")
    exercise = catalog.find("expand")
    assert exercise.hints[0] in out
    assert exercise.torch in out
    assert "ch07_engine/diamond.py" in out
    assert "now.html" in out
    assert (workspace.private / "now.html").read_text().startswith("<!doctype html>")


def test_reset_asks(workspace):
    file = workspace.file(catalog.find("offset"))
    solved = file.read_text()
    assert "nothing changed" in watch(workspace, "xnq", "offset")
    assert file.read_text() == solved
    watch(workspace, "xyq", "offset")
    assert "raise NotImplementedError" in file.read_text()


def test_check_all(workspace):
    out = watch(workspace, "cq")
    assert out.count("not started") >= len(catalog.exercises()) - 1


def test_stays_in_a_set(workspace):
    out = watch(workspace, "lnq", "ch05_graph")
    assert "grading" in out
    assert "ch05_graph/graph_printer.py" in out
    assert "ch02_strides" not in out
    assert workspace.state().current == "topological_order"


def test_remembers_the_exercise(workspace):
    watch(workspace, "q", "diamond")
    assert "diamond" in watch(workspace, "")


def test_now_html_is_one_file(workspace):
    exercise = catalog.find("offset")
    shutil.copyfile(exercise.solutions / "wrong_bytes.py", workspace.file(exercise))
    watch(workspace, "q", "offset")
    page = (workspace.private / "now.html").read_text()
    assert "strides count elements, not bytes" in page
    assert "http" not in page.replace("http-equiv", "")


def test_saving_grades_again_in_a_terminal(workspace):
    """Keys come one by one from a terminal, without Return, and a save is seen."""
    import pty

    ours, theirs = pty.openpty()
    words, environment = command(workspace, "contiguous")
    process = subprocess.Popen(words, env=environment, stdin=theirs, stdout=subprocess.PIPE, text=True)
    os.close(theirs)
    try:
        read_until(process.stdout, "q quit")
        exercise = catalog.find("contiguous")
        shutil.copyfile(exercise.solutions / "solution.py", workspace.file(exercise))
        assert "6/6" in read_until(process.stdout, "q quit")
        os.write(ours, b"q")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.stdout.close()
        process.wait()
        os.close(ours)


def read_until(stream, text):
    """The lines up to one that holds the text."""
    lines = []
    for line in stream:
        lines.append(line)
        if text in line:
            break
    return "".join(lines)
