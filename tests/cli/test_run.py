"""`teachtorch run`: PyTorch scripts, unmodified, on teachtorch."""
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import teachtorch

ROOT = Path(__file__).resolve().parents[2]

TRAINING = """
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(64, 3)
y = (x @ torch.tensor([[1.0], [-2.0], [0.5]])) + 0.1
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
for epoch in range(int(sys.argv[1])):
    for inputs, targets in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        loss = F.mse_loss(model(inputs.to(device)), targets)
        loss.backward()
        optimizer.step()
print(f"{loss.item():.4f}")
"""


def run(tmp_path, text, *words, python="-m teachtorch run"):
    script = tmp_path / "script.py"
    script.write_text(text, encoding="utf-8")
    return subprocess.run([sys.executable, *python.split(), str(script), *words], cwd=ROOT, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL)


def test_a_training_script_runs_unmodified(tmp_path):
    done = run(tmp_path, TRAINING, "3")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0


def test_torch_stands_for_teachtorch(tmp_path):
    done = run(tmp_path, "import torch, torch.nn\nprint(torch.__name__, torch.nn.__spec__.name)")
    assert done.stdout.split() == ["teachtorch", "teachtorch.nn"], done.stderr


@pytest.mark.parametrize("text, name", [
    ("import torch.onnx", "torch.onnx"),
    ("import torch\ntorch.quantize_per_tensor(torch.ones(2), 1.0, 0, None)", "torch.quantize_per_tensor"),
    ("import torch\ntorch.onnx.export", "torch.onnx"),
    ("from torch.nn.functional import grouped_mm", "torch.nn.functional.grouped_mm"),
    ("from torch import onnx", "torch.onnx"),
    ("import torch.nn.functional as F\nF.grouped_mm", "torch.nn.functional.grouped_mm"),
    ("import torch\ntorch.ones(2).q_scale()", "torch.Tensor.q_scale"),
    ("import torch\ntorch.Tensor.q_scale", "torch.Tensor.q_scale"),
])
def test_what_is_missing_is_named(tmp_path, text, name):
    done = run(tmp_path, text)
    last_line = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1 and last_line.startswith(f"teachtorch has no {name}"), done.stderr
    assert "Traceback" not in done.stderr and "script.py" in done.stderr


def test_a_slip_is_told_from_what_is_missing(tmp_path):
    done = run(tmp_path, "import torch\ntorch.zeross(2)")
    assert done.stderr.strip().endswith("teachtorch has no torch.zeross, nor has PyTorch; the nearest thing there is: "
                                        "torch.zeros")
    done = run(tmp_path, "import torch\ntorch.zeros(2).seroz()")
    assert "Traceback" in done.stderr and "has no attribute 'seroz'" in done.stderr


def test_other_errors_keep_their_traceback(tmp_path):
    done = run(tmp_path, "import torch\nclass A: pass\nA().onnx")
    assert "Traceback" in done.stderr and "AttributeError: 'A' object has no attribute 'onnx'" in done.stderr


def test_a_missing_script_is_named():
    done = subprocess.run([sys.executable, "-m", "teachtorch", "run", "nowhere.py"], cwd=ROOT, capture_output=True,
                          text=True)
    assert done.returncode == 1 and "no such script: nowhere.py" in done.stderr


def test_the_version_is_the_packages():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert teachtorch.__version__ == project["version"]
