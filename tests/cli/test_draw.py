"""`teachtorch draw` on whole scripts, of teachtorch and of real PyTorch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

TRAIN = """\
import sys

import {library} as torch

w = torch.ones(3, requires_grad=True)
x = torch.tensor([1.0, 2.0, 3.0])


def step(size):
    loss = (w * x).sum() * size
    loss.backward()
    return loss


for size in (1, 2):
    last = step(size)
hidden = (w * 2).exp()
"""


@pytest.fixture(params=["teachtorch", "torch"])
def train(request, tmp_path):
    """A training script of one of the two libraries."""
    if request.param == "torch":
        pytest.importorskip("torch")
    script = tmp_path / "train.py"
    script.write_text(TRAIN.format(library=request.param), encoding="utf-8")
    return script


def draw(script, *words):
    """Draw as text; return the finished process and the picture, "" if there is none."""
    picture = script.with_name("graph.txt")
    command = [sys.executable, "-m", "teachtorch", "draw", str(script), "-o", str(picture), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done, picture.read_text(encoding="utf-8") if picture.exists() else ""


def test_the_last_backward_is_drawn_as_it_was_before_it_ran(train):
    done, picture = draw(train)
    assert done.returncode == 0 and "Wrote" in done.stdout, done.stderr
    assert picture.startswith("backward graph of loss")
    assert picture.count("MulBackward0") > 1 and "SumBackward0" in picture
    assert "saved other" in picture and "freed" not in picture
    assert ".grad [1 2 3]" in picture  # what the first step left; the second had not run yet


def test_a_named_tensor_is_drawn_after_the_script(train):
    done, picture = draw(train, "--tensor", "hidden")
    assert done.returncode == 0, done.stderr
    assert "ExpBackward0" in picture and "SumBackward0" not in picture


def test_an_unknown_name_offers_those_there_are(train):
    done, picture = draw(train, "--tensor", "hiden")
    assert done.returncode == 1 and picture == ""
    assert "hidden" in done.stderr and "last" in done.stderr


def test_a_script_that_fails_shows_its_traceback_and_is_still_drawn(train):
    with train.open("a", encoding="utf-8") as file:
        file.write("raise ValueError('broken')\n")
    done, picture = draw(train)
    assert done.returncode == 1 and "ValueError: broken" in done.stderr
    assert 'train.py", line 18' in done.stderr and "commands.py" not in done.stderr
    assert "SumBackward0" in picture


def test_a_script_without_backward_is_said_and_its_tensors_offered(train):
    train.write_text(train.read_text().replace("loss.backward()", "pass"), encoding="utf-8")
    done, picture = draw(train)
    assert done.returncode == 1 and picture == ""
    assert "called no backward()" in done.stderr and "hidden" in done.stderr


def test_autograd_backward_counts_too(train):
    source = train.read_text().replace("loss.backward()", "torch.autograd.backward([loss])")
    train.write_text(source, encoding="utf-8")
    _, picture = draw(train)
    assert picture.startswith("backward graph of loss")


def test_the_page_and_the_json_hold_the_same_graph(train):
    done = [draw(train, "-o", str(train.with_name(name)))[0] for name in ("graph.html", "graph.json")]
    assert [one.returncode for one in done] == [0, 0], done[0].stderr
    nodes = json.loads(train.with_name("graph.json").read_text(encoding="utf-8"))["nodes"]
    page = train.with_name("graph.html").read_text(encoding="utf-8")
    assert "<svg" in page and all(node["id"] in page for node in nodes)
