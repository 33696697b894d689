"""Keeps generated modules as files, so that Numba's disk cache finds their compiled code in the next process.

Numba caches beside a source file and cannot cache code that has none. A file's name holds a hash of its text,
so a changed kernel is a new file, never a stale one.
"""

import atexit
import functools
import hashlib
import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile
import threading

__all__ = ["cache_directory", "load_module"]

_lock = threading.RLock()


@functools.lru_cache(maxsize=None)
def cache_directory():
    """Return the folder of generated modules: ``$TEACHTORCH_CACHE``, else ``~/.cache/teachtorch/kernels``.

    Where neither can be written it is a temporary folder that goes when the process ends.
    """
    chosen = os.environ.get("TEACHTORCH_CACHE")
    try:
        folder = pathlib.Path(chosen) if chosen else pathlib.Path.home() / ".cache" / "teachtorch" / "kernels"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # RuntimeError: the user has no home
        return _temporary_directory()


def _temporary_directory():
    """Make a private folder: a fixed name in a shared folder would let others plant code there."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="teachtorch-kernels-"))
    owner = os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
    return folder


def load_module(title, text):
    """Import the generated module ``text``; ``title`` starts its file's name."""
    name = f"teachtorch_{title}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    with _lock:
        if name not in sys.modules:
            _import(name, _write(name, text))
        return sys.modules[name]


def _write(name, text):
    path = cache_directory() / f"{name}.py"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(text, encoding="utf-8")
        os.utime(temporary, (0, 0))  # Numba compares the file's time: whoever writes the file, it is the same
        os.replace(temporary, path)
    return path


def _import(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Numba's pickles look their module up by name
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
