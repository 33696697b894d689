"""Imports point down: a floor of teachtorch uses the floors under it, never one above."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.import_floors import breaks_the_floors, breaks_the_pictures_rule, complaints

ROOT = Path(__file__).resolve().parent.parent


def engine_complaints(root):
    return complaints(root, "teachtorch", breaks_the_floors)


def viz_complaints(root):
    return complaints(root, "viz", lambda module, found: breaks_the_pictures_rule(found))


def plant(root, path, line):
    """Write a one-line module below `root`."""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(line + "\n", encoding="utf-8")


def test_engine_imports_point_down():
    assert engine_complaints(ROOT) == []


def test_viz_reads_public_surfaces_only():
    assert viz_complaints(ROOT) == []


@pytest.mark.parametrize(
    "path, line",
    [
        ("teachtorch/core/dtype.py", "from teachtorch.memory.storage import Storage"),
        ("teachtorch/core/dtype.py", "def f():\n    from teachtorch import ops"),
        ("teachtorch/core/dtype.py", "from ..memory import storage"),
        ("teachtorch/core/__init__.py", "from ..tensor import Tensor"),
        ("teachtorch/kernels/loops.py", "import teachtorch"),
        ("teachtorch/kernels/loops.py", "from teachtorch import Tensor"),
        ("teachtorch/dispatch/table.py", "import teachtorch.autograd.engine"),
        ("teachtorch/autograd/engine.py", "from teachtorch.ops import pointwise"),
        ("teachtorch/ops/views.py", "from teachtorch.nn import Module"),
        ("teachtorch/optim/sgd.py", "from teachtorch.utils.data import DataLoader"),
        ("teachtorch/nn/linear.py", "from teachtorch.cli import main"),
        ("teachtorch/core/dtype.py", "import viz"),
        ("teachtorch/ops/views.py", "def draw():\n    from viz.graph import graph"),
        ("teachtorch/nn/module.py", "import matplotlib.pyplot as plt"),
        ("teachtorch/cli.py", "import exercises.cli"),
    ],
)
def test_a_planted_upward_import_is_caught(tmp_path, path, line):
    plant(tmp_path, path, line)
    assert len(engine_complaints(tmp_path)) == 1


@pytest.mark.parametrize(
    "path, line",
    [
        ("teachtorch/memory/storage.py", "from teachtorch.core.dtype import dtype"),
        ("teachtorch/memory/storage.py", "from ..core import dtype"),
        ("teachtorch/memory/storage.py", "from .runtime import Runtime"),
        ("teachtorch/nn/linear.py", "from teachtorch.ops import matmul"),
        ("teachtorch/__init__.py", "from .nn import Module"),
        ("teachtorch/cli.py", "def draw():\n    import viz"),
        ("teachtorch/kernels/loops.py", "import numpy as np"),
    ],
)
def test_a_downward_import_is_allowed(tmp_path, path, line):
    plant(tmp_path, path, line)
    assert engine_complaints(tmp_path) == []


@pytest.mark.parametrize(
    "line",
    [
        "import teachtorch",
        "from teachtorch import Tensor",
        "def f():\n    from teachtorch.tensor import _meta",
        "def f():\n    import teachtorch._private",
    ],
)
def test_viz_planted_private_or_eager_import_is_caught(tmp_path, line):
    plant(tmp_path, "viz/graph.py", line)
    assert len(viz_complaints(tmp_path)) == 1


def test_importing_teachtorch_loads_none_of_the_heavy_or_upper_packages():
    heavy = ["numba", "matplotlib", "graphviz", "IPython", "viz", "exercises", "torch"]
    code = f"import teachtorch, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
