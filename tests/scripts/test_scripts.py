"""Training scripts in the style of PyTorch's examples: `teachtorch run` prints what PyTorch prints.

The scripts know only torch. Seeds, shuffles and first weights are the same in both libraries, so that the losses are
as well, up to rounding.
"""
import contextlib
import importlib.util
import io
import math
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RUNS = [[path.name] for path in sorted(HERE.glob("[a-z]*.py")) if not path.name.startswith("test_")] + [
    ["word_language_model.py", "--model", "Transformer"],
    ["word_language_model.py", "--model", "GRU", "--tied"],
]
NUMBER = re.compile(r"[-+]?\d+\.\d+(?:e[-+]\d+)?")


def run_with_teachtorch(words):
    done = subprocess.run([sys.executable, "-m", "teachtorch", "run", str(HERE / words[0]), *words[1:]],
                          cwd=HERE.parents[1], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_with_torch(words, monkeypatch):
    """What the script prints here, in this process: PyTorch is imported once for all of them."""
    monkeypatch.setattr(sys, "argv", words)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(str(HERE / words[0]), run_name="__main__")
    return out.getvalue()


def numbers_in(text):
    return [float(n) for n in NUMBER.findall(text)]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("words", RUNS, ids=" ".join)
def test_the_script_prints_what_pytorch_prints(words, monkeypatch):
    found = run_with_teachtorch(words)
    assert numbers_in(found) and all(map(math.isfinite, numbers_in(found)))
    if importlib.util.find_spec("torch") is None:
        return
    wanted = run_with_torch(words, monkeypatch)
    assert NUMBER.sub("#", found) == NUMBER.sub("#", wanted)
    assert numbers_in(found) == pytest.approx(numbers_in(wanted), rel=5e-4, abs=2e-5)
