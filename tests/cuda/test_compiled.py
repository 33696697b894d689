"""A few kernels of each kind through the real compiler, in a process of its own: see tests/gpu/compiled.py,
which goes through all of them. Skipped where numba-cuda or NVIDIA's compiler library is not installed.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = """add where sum argmax cumsum logsumexp gather index_put mm nll_loss max_pool2d_with_indices
uniform_""".split()


def has_compiler():
    if importlib.util.find_spec("numba_cuda") is None or os.environ.get("NUMBA_ENABLE_CUDASIM") == "1":
        return False
    from numba.cuda.cudadrv.nvvm import NVVM, NvvmSupportError

    try:
        NVVM()
    except NvvmSupportError:
        return False
    return True


@pytest.mark.skipif(not has_compiler(), reason="no numba-cuda, or no NVVM")
def test_kernels_compile():
    command = [sys.executable, "-m", "tests.gpu.compiled", *NAMES]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    count, *_, refused, _ = done.stdout.split()[-5:]
    assert refused == "0" and int(count) >= len(NAMES)
