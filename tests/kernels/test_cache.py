"""Compiled code is found again by the next process, and folders that cannot be written do not matter."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

SCRIPT = textwrap.dedent("""
    import sys
    import numpy as np
    from teachtorch.kernels import cache, reduce, scalar
    from teachtorch.kernels.pointwise import Pointwise
    assert "numba" not in sys.modules
    x = np.linspace(-3, 3, 50000, dtype=np.float32)
    Pointwise(scalar.tanh, np.tanh)(x[:100])
    assert "numba" not in sys.modules
    tanh = Pointwise(scalar.tanh, np.tanh)
    np.testing.assert_allclose(tanh(x), np.tanh(x), rtol=1e-6)
    tanh(np.repeat(x, 2)[::2])
    reduce.sum(x)
    kernels = [module.kernel for name, module in sys.modules.items() if name.startswith("teachtorch_")]
    assert len(kernels) == 3
    print(sum(sum(k.stats.cache_hits.values()) for k in kernels), cache.cache_directory())
""")


def run(folder, home=None):
    """Run the script with the cache in ``folder``; return how many kernels came from it, and where it was."""
    environment = {**os.environ, "TEACHTORCH_CACHE": str(folder), "PYTHONPATH": str(ROOT)}
    environment.pop("NUMBA_CACHE_DIR", None)
    script = [sys.executable, "-W", "error", "-c", SCRIPT]
    options = {"capture_output": True, "text": True, "timeout": 300, "cwd": folder.parent}
    done = subprocess.run(script, env=environment, **options)
    assert done.returncode == 0, done.stderr
    hits, where = done.stdout.split()
    return int(hits), pathlib.Path(where)


def test_a_second_process_compiles_nothing(tmp_path):
    folder = tmp_path / "cache"
    assert run(folder) == (0, folder)
    assert run(folder) == (3, folder)


def test_a_damaged_file_is_written_again(tmp_path):
    folder = tmp_path / "cache"
    run(folder)
    for file in folder.glob("teachtorch_tanh*.py"):
        file.write_text("half a ker")
    assert run(folder)[1] == folder
    assert all("def kernel" in file.read_text() for file in folder.glob("*.py"))


def test_without_a_folder_that_can_be_written_kernels_are_compiled_each_time(tmp_path):
    blocked = tmp_path / "file"  # a folder cannot be made where a file lies, whoever tries
    blocked.write_text("")
    hits, where = run(blocked)
    assert hits == 0 and where != blocked
    assert not where.exists()  # the temporary folder went with its process


def test_importing_the_kernels_imports_no_numba():
    code = ("import sys, teachtorch.kernels.pointwise, teachtorch.kernels.reduce, teachtorch.kernels.softmax;"
            "sys.exit('numba' in sys.modules)")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, timeout=120)
    assert done.returncode == 0


@pytest.mark.parametrize("value", ["", None])
def test_the_default_folder_is_the_user_s(monkeypatch, tmp_path, value):
    from teachtorch.kernels import cache
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.delenv("TEACHTORCH_CACHE", raising=False)
    if value is not None:
        monkeypatch.setenv("TEACHTORCH_CACHE", value)
    assert cache.cache_directory.__wrapped__() == tmp_path / ".cache" / "teachtorch" / "kernels"


WHOLE = textwrap.dedent("""
    import numpy as np
    from teachtorch.kernels import rows, scalar
    from teachtorch.kernels.pointwise import Pointwise
    x = np.linspace(-3, 3, 50000, dtype=np.float32)
    np.testing.assert_allclose(Pointwise(scalar.tanh, np.tanh)(x), np.tanh(x), rtol=1e-6)
    total = np.zeros((2, 50000))
    rows.add_rows(total, np.array([1, 1]), np.ones((2, 50000)))
    assert total[:, 0].tolist() == [0, 2]
""")


@pytest.mark.parametrize("damage", [lambda whole: whole[:50], lambda whole: b"", lambda whole: b"\xbd\xff" * 40])
def test_damaged_files_are_made_anew(tmp_path, damage):
    run_script(tmp_path / "cache", WHOLE)
    files = [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]
    assert len({file.suffix for file in files} & {".py", ".nbi", ".nbc"}) == 3
    for file in files:
        file.write_bytes(damage(file.read_bytes()))
    run_script(tmp_path / "cache", WHOLE)


INTERRUPTED = textwrap.dedent("""
    import signal
    import sys
    import builtins
    import numpy as np
    from teachtorch.kernels import scalar
    from teachtorch.kernels.pointwise import Pointwise
    whole_import = builtins.__import__
    def import_and_interrupt(name, *rest):
        if name == "numba.core":
            builtins.__import__ = whole_import
            signal.raise_signal(signal.SIGINT)
        return whole_import(name, *rest)
    builtins.__import__ = import_and_interrupt
    tanh, x = Pointwise(scalar.tanh, np.tanh), np.ones(50000, np.float32)
    try:
        tanh(x)
        sys.exit("no interrupt")
    except KeyboardInterrupt:
        np.testing.assert_allclose(tanh(x), np.tanh(x), rtol=1e-6)
""")


def test_an_interrupt_while_numba_is_imported_breaks_nothing(tmp_path):
    run_script(tmp_path / "cache", INTERRUPTED)


def run_script(folder, script):
    environment = {**os.environ, "TEACHTORCH_CACHE": str(folder), "PYTHONPATH": str(ROOT)}
    environment.pop("NUMBA_CACHE_DIR", None)
    options = {"capture_output": True, "text": True, "timeout": 300, "cwd": folder.parent}
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], env=environment, **options)
    assert done.returncode == 0, done.stderr
