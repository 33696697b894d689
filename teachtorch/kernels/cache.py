"""Keeps generated modules as files, so that Numba's disk cache finds their compiled code in the next process.

Numba caches beside a source file and cannot cache code that has none. A file's name holds a hash of its text,
so a changed kernel is a new file, never a stale one.
"""

import atexit
import contextlib
import functools
import hashlib
import importlib.util
import os
import pathlib
import shutil
import signal
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


def load_module(title, text, waits_for_memory=False):
    """Import the generated module ``text``; ``title`` starts its file's name.

    Args:
        waits_for_memory: whether its loops do so little that memory sets their pace (see `_one_vector_at_a_time`).
    """
    text += _ONE_VECTOR * waits_for_memory
    name = f"teachtorch_{title}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    with _lock:
        if name not in sys.modules:
            _import_numba()
            with _one_vector_at_a_time() if waits_for_memory else contextlib.nullcontext():
                _import(name, _write(name, text))
        return sys.modules[name]


_ONE_VECTOR = "\n# Compiled without interleaving: one vector of each operand at a time.\n"


@contextlib.contextmanager
def _one_vector_at_a_time():
    """Keep LLVM from interleaving loops: from four vectors of one operand, then four of the next, and so on.

    That hides an instruction's latency; where memory sets the pace it makes a loop of two operands and a result a
    sixth slower. Numba has no option for it, so llvmlite's options are made with it for as long as the block runs;
    what another thread compiles meanwhile comes out right too, and not interleaved.
    """
    from llvmlite import binding

    create = binding.create_pipeline_tuning_options

    def options(*args, **kwargs):
        made = create(*args, **kwargs)
        made.loop_interleaving = False
        return made

    binding.create_pipeline_tuning_options = options
    try:
        yield
    finally:
        binding.create_pipeline_tuning_options = create


def _import_numba():
    """Import Numba, the first time. It takes a second; an interrupt within would leave it half imported."""
    if "numba" not in sys.modules:
        with _interrupts_later():
            import numba  # noqa: F401


@contextlib.contextmanager
def _interrupts_later():
    """Hold a Ctrl-C back until the block has run."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    held = []
    signal.signal(signal.SIGINT, lambda *received: held.append(received))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if held:
        handler(*held[0])


def _write(name, text):
    path = cache_directory() / f"{name}.py"
    if not path.exists() or path.read_bytes() != text.encode():
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
        _execute(spec.loader, module, path)
        _compile_where_damaged(module)
    except BaseException:
        del sys.modules[name]
        raise


def _execute(loader, module, path):
    """Run the module, which loads compiled code or compiles; where a file of that code is damaged, compile."""
    try:
        loader.exec_module(module)
    except Exception:  # unpickling damaged bytes raises almost anything
        files = list(path.parent.glob(f"__pycache__/{path.stem}.*"))     # Numba's, and Python's own bytecode
        if not files:
            raise
        for file in files:
            file.unlink(missing_ok=True)
        loader.exec_module(module)


def _compile_where_damaged(module):
    """The same for functions whose code Numba loads when they are first called."""
    for function in vars(module).values():
        cache = getattr(function, "_cache", None)
        if cache is not None:
            cache.load_overload = _load_or_forget(cache, cache.load_overload)


def _load_or_forget(cache, load):
    def load_overload(signature, context):
        try:
            return load(signature, context)
        except Exception:
            cache.flush()
            return None
    return load_overload
