"""`teachtorch lab`: the chapters in JupyterLab."""

import os
import sys
from pathlib import Path

from teachtorch.cli.errors import CommandError

# The folder that holds the packages; in a clone of the repository, the chapters as well.
ROOT = Path(__file__).resolve().parents[2]
FIRST_CHAPTER = "notebooks/00_tour.ipynb"


def lab(arguments):
    """Start JupyterLab on the chapters and stay until it ends; `arguments` go to JupyterLab."""
    from jupyterlab.labapp import main as jupyterlab_main

    check_chapters()
    # Kernels find what this environment installs (MPI's launcher, graphviz-pure) before the system's.
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
    return jupyterlab_main(settings() + arguments) or 0


def check_chapters():
    if not (ROOT / "notebooks").is_dir():
        raise CommandError(f"no chapters in {ROOT}: they come with a clone of the repository, not with pip")


def first_page():
    """JupyterLab opens on the first chapter; in a clone without it, on the folder."""
    first = FIRST_CHAPTER if (ROOT / FIRST_CHAPTER).exists() else "notebooks"
    return f"/lab/tree/{first}"


def settings():
    """JupyterLab on the whole repository, without offers of updates or a question on Ctrl-C."""
    chosen = [
        f"--ServerApp.root_dir={ROOT}",
        f"--LabApp.default_url={first_page()}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--ServerApp.answer_yes=True",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        chosen.append("--allow-root")
    return chosen
