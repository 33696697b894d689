"""Compiling C++ sources to a shared library, once for each content."""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HEADER = Path(__file__).with_name("extension.h")
FLAGS = ["-std=c++17", "-O3", "-fPIC", "-shared", "-Wall"]
NO_COMPILER = ("C++ extensions need a C++ compiler (c++, g++ or clang++), and none is on PATH; the environment variable CXX "
               "may name one")


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


def built(name, source, flags=(), folder=None, verbose=False):
    """The path of the library of a source; compiled now if there is none of this content.

    The content is the source, the header, the compiler and its flags. CompilerError where the source is refused.
    """
    command = [*compiler(), *FLAGS, *flags]
    text = "\0".join([source, HEADER.read_text(), *command, sys.platform])
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    folder = Path(folder) if folder is not None else extensions_folder()
    path = folder / f"{name}_{digest}.so"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        compile_to(path, source, command, verbose)
    elif verbose:
        print(f"{name}: compiled before, {path}")
    return path


def compile_to(path, source, command, verbose):
    """Compile into a file of another name first: a process that is stopped leaves no half library behind."""
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        written = Path(scratch) / "source.cpp"
        written.write_text(source)
        made = Path(scratch) / path.name
        line = [*command, f"-I{HEADER.parent}", str(written), "-o", str(made)]
        if verbose:
            print(" ".join(line))
        result = subprocess.run(line, capture_output=True, text=True)
        if result.returncode:
            raise CompilerError(f"the compiler refused the source of {path.stem.rpartition('_')[0]!r}:\n"
                                + result.stderr.replace(str(written), "source.cpp"))
        os.replace(made, path)
