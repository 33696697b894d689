"""What PyTorch documents has a docstring here, too: functions, classes and the members of classes."""
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("torch")

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_what_pytorch_documents_has_a_docstring():
    done = subprocess.run([sys.executable, "-m", "tests.parity.docstrings"], cwd=ROOT, capture_output=True, text=True)
    *missing, compared = done.stdout.splitlines() or [""]
    assert done.returncode == 0, done.stderr
    assert missing == [] and int(compared.split()[0]) > 1500
