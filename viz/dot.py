"""A trace as DOT, and the layout of DOT by an external program."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

_TIMEOUT = 60


class LayoutError(RuntimeError):
    """No layout program, or it failed."""


def source(trace):
    """DOT text for the trace; LayoutError without the package that writes DOT."""
    if not find_spec("graphviz"):
        raise LayoutError(
            "DOT is written with the graphviz package: pip install graphviz graphviz-pure. "
            "Until then .text shows the picture."
        )
    return import_module(f"viz.{trace.kind}_dot").digraph(trace).source


def program():
    """The layout program: $TEACHTORCH_DOT, else graphviz-pure, else dot; LayoutError if there is none."""
    named = os.environ.get("TEACHTORCH_DOT")
    found = _required(named) if named else _installed("graphviz-pure") or shutil.which("dot")
    if not found:
        raise LayoutError(
            "To draw this graph, install its layout program: pip install graphviz-pure "
            "(or set TEACHTORCH_DOT to a Graphviz dot). Until then .text shows it."
        )
    return found


def _required(named):
    found = shutil.which(named)
    if not found:
        raise LayoutError(f"TEACHTORCH_DOT names {named!r}, which is not a program that can be run.")
    return found


def _installed(name):
    """pip puts programs beside the interpreter, a folder that need not be on PATH."""
    folders = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    return shutil.which(name, path=os.pathsep.join(folders)) or shutil.which(name)


def layout(dot):
    """Positions for DOT text, as the dict that Graphviz writes for -Tjson0."""
    command = [program(), "-Tjson0"]
    try:
        done = subprocess.run(command, input=dot.encode(), capture_output=True, timeout=_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LayoutError(f"The layout program {command[0]} did not answer: {error}") from error
    if done.returncode != 0:
        raise LayoutError(f"The layout program {command[0]} failed: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)
