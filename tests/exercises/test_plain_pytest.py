"""`pytest` on a set grades the learner's files, without the runner."""

import os
import shutil
import subprocess
import sys

from exercises import catalog
from exercises.workspace import Workspace


def pytest_on(folder, *arguments, cwd):
    """Plain pytest, as a learner starts it."""
    command = [sys.executable, "-m", "pytest", str(folder), "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(catalog.PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def test_in_the_checkout():
    answer = pytest_on("exercises/ch02_strides", cwd=catalog.PACKAGE.parent)
    asked = sum(len(each.properties) for each in catalog.exercises() if each.set == "ch02_strides")
    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert f"{asked} failed" in answer.stdout
    assert "NotImplementedError" in answer.stdout


def test_in_a_workspace(tmp_path):
    workspace = Workspace(tmp_path / "mine")
    workspace.prepare()
    for exercise in catalog.exercises():
        if exercise.set == "ch07_engine":
            shutil.copyfile(exercise.solutions / "solution.py", workspace.file(exercise))
    asked = sum(len(each.properties) for each in catalog.exercises() if each.set == "ch07_engine")
    answer = pytest_on("ch07_engine", cwd=workspace.folder)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert f"{asked} passed" in answer.stdout
    assert "seed" in answer.stdout


def test_the_message_is_the_same(tmp_path):
    workspace = Workspace(tmp_path / "mine")
    workspace.prepare()
    exercise = catalog.find("offset")
    shutil.copyfile(exercise.solutions / "wrong_no_offset.py", workspace.file(exercise))
    answer = pytest_on("ch02_strides/test_offset.py", "-q", cwd=workspace.folder)
    assert "storage_position((0, 0), (2, 2), (4, 1), 3)" in answer.stdout
    assert "expected  3" in answer.stdout
