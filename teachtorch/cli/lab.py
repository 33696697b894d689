"""`teachtorch lab`: the chapters in JupyterLab."""

import os
import sys
from pathlib import Path

import teachtorch
from teachtorch.cli.errors import CommandError

FIRST_CHAPTER = "00_tour.ipynb"


def lab(arguments):
    """Start JupyterLab on the chapters and stay until it ends; `arguments` go to JupyterLab."""
    from jupyterlab.labapp import main as jupyterlab_main

    chapters = find_chapters()
    os.chdir(chapters.parent)
    # Kernels find what this environment installs (MPI's launcher, graphviz-pure) before the system's.
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
    return jupyterlab_main([first_page(chapters)] + settings() + arguments) or 0


def find_chapters():
    """The folder `notebooks` beside the package, as in a clone of the repository."""
    folder = Path(teachtorch.__file__).resolve().parent.parent / "notebooks"
    if not folder.is_dir():
        raise CommandError(f"no chapters at {folder}: they come with a clone of the repository, not with pip")
    return folder


def first_page(chapters):
    first = chapters / FIRST_CHAPTER
    return str(first if first.exists() else chapters)


def settings():
    """JupyterLab without its offers of news and updates, and without a question on Ctrl-C."""
    chosen = [
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--ServerApp.answer_yes=True",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        chosen.append("--allow-root")
    return chosen
