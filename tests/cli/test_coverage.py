"""`teachtorch coverage`: what a script needs of torch, read from its text."""
import json
import subprocess
import sys
from pathlib import Path

import pytest

from teachtorch.cli import main, names
from teachtorch.cli.coverage import Coverage

ROOT = Path(__file__).resolve().parents[2]


def covered(tmp_path, text):
    script = tmp_path / "script.py"
    script.write_text(text, encoding="utf-8")
    return Coverage([script])


def needed(tmp_path, text):
    return set(covered(tmp_path, text).entries)


@pytest.mark.parametrize("text, wanted", [
    ("import torch\ntorch.ones(2)", {"torch.ones"}),
    ("import torch as T\nT.nn.functional.relu", {"torch.nn", "torch.nn.functional", "torch.nn.functional.relu"}),
    ("import torch.nn.functional as F\nF.relu", {"torch.nn.functional", "torch.nn.functional.relu"}),
    ("import torch.nn.utils.rnn\ntorch.nn.Linear", {"torch.nn.utils.rnn", "torch.nn", "torch.nn.Linear"}),
    ("from torch import nn as layers\nlayers.Linear(1, 2)", {"torch.nn", "torch.nn.Linear"}),
    ("from torch.utils.data import DataLoader as D\nD([])", {"torch.utils.data.DataLoader"}),
    ("from torch.nn import *\nLinear(1, 2)", {"torch.nn"}),
    ("def f():\n    import torch\n    return torch.zeros(1)", {"torch.zeros"}),
    ("import numpy as np\nnp.linalg.norm([1])", set()),
    ("import torch\nopt = torch.optim\nopt.SGD", {"torch.optim", "torch.optim.SGD"}),
    ("import torch\ndef f(torch):\n    torch.nothing", set()),
])
def test_names_through_aliases_and_chains(tmp_path, text, wanted):
    assert needed(tmp_path, text) == wanted


@pytest.mark.parametrize("text", [
    "x = torch.ones(2)\nx.q_scale()",
    "x = torch.ones(2) + 1\n(x * 2).q_scale()",
    "x = torch.ones(2).view(-1)[0]\nx.q_scale()",
    "def f(x: torch.Tensor):\n    return x.q_scale()",
    "net = torch.nn.Linear(1, 2)\nnet(1).q_scale()",
    "a, b = torch.ones(2).sort()\nb.q_scale()",
    "a, b = 1, torch.ones(2)\nb.q_scale()",
    "[x.q_scale() for x in torch.ones(2)]",
    "class A:\n    def f(self):\n        self.x.q_scale()\n    def __init__(self):\n        self.x = torch.ones(2)",
    "import torch.nn.functional as F\ny = F.relu(torch.ones(2))\ny.q_scale()",
    "for part in torch.ones(4).split(2):\n    part.q_scale()",
])
def test_methods_of_values_that_must_be_tensors(tmp_path, text):
    found = covered(tmp_path, "import torch\n" + text)
    assert [entry.name for entry in found.missing()] == ["torch.Tensor.q_scale"]


@pytest.mark.parametrize("text", ["def f(x):\n    return x.q_scale()", "x = make()\nx.q_scale()"])
def test_methods_of_values_that_may_be_tensors_are_uncertain(tmp_path, text):
    found = covered(tmp_path, text)
    assert [entry.name for entry in found.uncertain()] == ["torch.Tensor.q_scale"] and not found.missing()


@pytest.mark.parametrize("text", ["x = torch.ones(2).item()\nx.q_scale", "x = torch.ones(2)\nx = [x]\nx.index(0)",
                                  "x = torch.ones(2).shape\nx.q_scale"])
def test_what_is_no_tensor_has_no_methods_of_one(tmp_path, text):
    assert not covered(tmp_path, "import torch\n" + text).missing()


def test_what_the_script_asks_for_first_is_set_apart(tmp_path):
    found = covered(tmp_path, "import torch\nif torch.cuda.is_available():\n    torch.hub.load\n"
                              "try:\n    import torch.onnx\nexcept ImportError:\n    pass\n"
                              "if hasattr(torch, 'quantize_per_tensor'):\n    torch.quantize_per_tensor\n")
    assert not found.missing()
    assert [e.name for e in found.optional()] == ["torch.hub.load", "torch.onnx", "torch.quantize_per_tensor"]


def test_the_lines_are_told(tmp_path):
    found = covered(tmp_path, "import torch\n\ntorch.onnx.export\nx = 1\ntorch.onnx.export")
    assert [(e.name, [line for _, line in e.lines]) for e in found.missing()] == [("torch.onnx.export", [3, 5])]


def test_packages_that_need_pytorch_itself_are_named(tmp_path):
    found = covered(tmp_path, "import torchvision.transforms\nfrom torchaudio import load\nimport numpy")
    assert sorted(found.packages) == ["torchaudio", "torchvision"]


def test_names_that_nobody_has_are_slips():
    assert names.is_pytorchs("torch.ones") and names.is_pytorchs("torch.zeross") is False
    assert names.nearest("torch.zeross") == "torch.zeros"
    assert names.nearest("torch.nn.relu") == "torch.relu"


@pytest.mark.parametrize("name", ["complex64", "cfloat", "complex", "view_as_complex", "Tensor.cdouble"])
def test_complex_names_are_told_that_there_are_no_complex_dtypes(name):
    assert names.is_pytorchs(f"torch.{name}") and not names.has(f"torch.{name}")
    assert "no complex dtypes" in names.sentence(f"torch.{name}")


def test_a_name_that_is_not_really_near_is_not_suggested():
    assert names.alike_beside("torch.complex64") is None
    assert names.nearest("torch.quantize_per_tensor") is None


# ---- the command ---------------------------------------------------------------------------------------------------

def test_exit_status_says_whether_all_is_there(tmp_path, capsys):
    complete, lacking, broken = (tmp_path / f"{n}.py" for n in "abc")
    complete.write_text("import torch\ntorch.ones(2)")
    lacking.write_text("import torch\ntorch.onnx.export(1)")
    broken.write_text("import torch\n(")
    assert main(["coverage", str(complete)]) == 0
    assert main(["coverage", str(complete), str(lacking)]) == 1
    assert "torch.onnx.export  (b.py:2)" in capsys.readouterr().out
    assert main(["coverage", str(broken)]) == 2 and main(["coverage", str(tmp_path / "no.py")]) == 2
    assert "c.py" in capsys.readouterr().err


def test_a_missing_script_is_named_as_run_names_it(tmp_path, capsys):
    script = tmp_path / "no.py"
    assert main(["coverage", str(script)]) == 2
    said = capsys.readouterr().err
    assert said == f"teachtorch: no such script: {script}\n"
    assert main(["run", str(script)]) != 0 and capsys.readouterr().err == said


def test_json_is_for_programs(tmp_path, capsys):
    script = tmp_path / "a.py"
    script.write_text("import torch\ntorch.ones(2)\ntorch.onnx.export(1)")
    assert main(["coverage", "--json", str(script)]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["needs"] == 2 and found["there"] == 1
    assert [(m["name"], m["lines"], m["in_pytorch"]) for m in found["missing"]] == [
        ("torch.onnx.export", [f"{script}:3"], True)]


def test_the_command_line(tmp_path):
    done = subprocess.run([sys.executable, "-m", "teachtorch", "coverage", "--help"], cwd=ROOT, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0 and "Exit status" in done.stdout
    with pytest.raises(SystemExit) as stopped:
        main(["coverage", "--nonsense", "a.py"])
    assert stopped.value.code == 2


def test_the_scripts_of_the_tests_are_covered():
    """What tests/scripts/test_scripts.py runs is found to be runnable."""
    scripts = [p for p in (ROOT / "tests" / "scripts").glob("[a-z]*.py") if not p.name.startswith("test_")]
    found = Coverage(sorted(scripts))
    assert len(found.entries) > 150
    assert [e.name for e in found.missing() + found.uncertain()] == []
