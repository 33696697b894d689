"""Compiling C++ sources to a shared library, once for each content."""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HEADER = Path(__file__).with_name("extension.h")
FLAGS = ["-std=c++17", "-O3", "-fPIC", "-Wall"]
CUDA_FLAGS = ["-std=c++17", "-O3", "-Xcompiler", "-fPIC"]
OTHER_INCLUDE = re.compile(r'^\s*#\s*include\s*"(?!extension\.h")', re.MULTILINE)
NO_COMPILER = ("C++ extensions need a C++ compiler (c++, g++ or clang++), and none is on PATH; the "
               "environment variable CXX may name one")

NO_NVCC = ("CUDA sources need nvcc, the compiler of NVIDIA's CUDA toolkit, and none is on PATH or in "
           "$CUDA_HOME/bin. teachtorch's own GPU kernels are written in Python, with numba.cuda: see chapter "
           "17")


class CompilerError(RuntimeError):
    """The compiler refused the source; its message, with the line numbers of the source, is the error's text."""


def compiler():
    """The command of the C++ compiler: $CXX, or the first of c++, g++, clang++. RuntimeError without one."""
    for name in filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++")):
        if shutil.which(name.split()[0]):
            return name.split()
    raise RuntimeError(NO_COMPILER)


def is_compiler_available():
    """Whether there is a C++ compiler."""
    try:
        compiler()
    except RuntimeError:
        return False
    return True


def extensions_folder():
    """Where compiled extensions are kept: $TEACHTORCH_EXTENSIONS_DIR, or a folder of the user's cache."""
    given = os.environ.get("TEACHTORCH_EXTENSIONS_DIR")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(given or os.path.join(cache, "teachtorch", "extensions"))


def cuda_compiler():
    """The command of NVIDIA's compiler. RuntimeError without one."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    found = shutil.which("nvcc") or shutil.which("nvcc", path=os.path.join(home, "bin") if home else "")
    if found is None:
        raise RuntimeError(NO_NVCC)
    return [found]


class Unit:
    """One source and how to compile it: `command` to an object file, shown as `place` in messages."""

    def __init__(self, place, text, command):
        self.place, self.text, self.command = place, text, command


def units_of(source, cuda_source, flags, cuda_flags):
    """The units of an extension, and the command that links them."""
    units = [Unit("source.cpp", source, [*compiler(), *FLAGS, *flags])]
    if cuda_source is None:
        return units, [*compiler(), "-shared"]
    units.append(Unit("source.cu", cuda_source, [*cuda_compiler(), *CUDA_FLAGS, *cuda_flags]))
    return units, [*cuda_compiler(), "-shared"]


def built(name, source, flags=(), folder=None, verbose=False, cuda_source=None, cuda_flags=(), link_flags=()):
    """The path of the library of a source; compiled now if there is none of this content.

    The content is the sources, the headers of the user's that they include, our header, the compilers and
    their flags. CompilerError where a source is refused.
    """
    units, link = units_of(source, cuda_source, flags, cuda_flags)
    link += link_flags
    folder = Path(folder) if folder is not None else extensions_folder()
    folder.mkdir(parents=True, exist_ok=True)
    texts = [HEADER.read_text(), *link, sys.platform]
    for unit in units:
        texts += [unit.text, *unit.command, *headers_of(unit, folder)]
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    path = folder / f"{name}_{digest}.so"
    if not path.exists():
        compile_to(path, units, link, verbose)
    elif verbose:
        print(f"{name}: compiled before, {path}")
    return path


def headers_of(unit, folder):
    """The texts of the user's headers that a source includes, directly or not; the compiler knows where they lie.

    Without an include in quotation marks there are none, and nobody is asked. A missing header is told when
    compiling.
    """
    if not OTHER_INCLUDE.search(unit.text):
        return []
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        written = Path(scratch) / unit.place
        written.write_text(unit.text)
        result = subprocess.run([*unit.command, "-MM", f"-I{HEADER.parent}", str(written)],
                                capture_output=True, text=True)
    found = result.stdout.partition(":")[2].replace("\\\n", " ").split()
    paths = [Path(path) for path in found if Path(path) not in (written, HEADER)]
    return [part for path in paths if path.exists() for part in (str(path), path.read_text())]


def compile_to(path, units, link, verbose):
    """Compile into a folder of its own first: a process that is stopped leaves no half library behind, and of
    two that compile the same at once, each finishes, and the later one's takes the place of the other's,
    which is the same."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="building_") as scratch:
        objects = []
        for unit in units:
            written = Path(scratch) / unit.place
            written.write_text(unit.text)
            objects.append(f"{written}.o")
            ran(path, [*unit.command, f"-I{HEADER.parent}", "-c", str(written), "-o", objects[-1]],
                unit.place, scratch,
                verbose)
        made = str(Path(scratch) / path.name)
        ran(path, [*link[:2], *objects, *link[2:], "-o", made], "source", scratch, verbose)
        os.replace(made, path)


def ran(path, line, place, scratch, verbose):
    if verbose:
        print(" ".join(line))
    result = subprocess.run(line, capture_output=True, text=True)
    if result.returncode:
        raise CompilerError(f"the compiler refused {place} of {path.stem.rpartition('_')[0]!r}:\n"
                            + (result.stderr or result.stdout).replace(f"{scratch}{os.sep}", ""))
