"""Build the chapters: run each source in notebooks/src and store it, with its outputs, as a notebook.

    python -m notebooks.build                 build all chapters
    python -m notebooks.build 02_tensors      build one
    python -m notebooks.build --check         build nothing; fail if a stored chapter would change

Running a chapter again gives the same file, byte for byte, as long as the chapter and the code it shows
stay the same.
"""

import argparse
import difflib
import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from notebooks.rules import output_problems, problems
from notebooks.stored_outputs import keep_varying_outputs, reduce_outputs

FOLDER = Path(__file__).resolve().parent
SOURCES = FOLDER / "src"
SECONDS_PER_CELL = 300

# The same for everyone who runs the chapter: nothing of this machine or this Python goes into the file.
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}


def main(argv=None):
    options = parse(argv)
    sources = [SOURCES / f"{name}.md" for name in options.chapters] or all_sources()
    act = check if options.check else build
    return max((act(source) for source in sources), default=0)


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="python -m notebooks.build",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("chapters", nargs="*", metavar="chapter", help="a name without ending; default: all")
    parser.add_argument("--check", action="store_true", help="compare with what is stored, change nothing")
    return parser.parse_args(argv)


def all_sources():
    return sorted(SOURCES.glob("*.md"))


def stored_path(source):
    """Where the built form of a source is stored: notebooks/src/x.md becomes notebooks/x.ipynb."""
    return source.parent.parent / f"{source.stem}.ipynb"


def build(source):
    """Run a chapter and store it unless it breaks a rule; return the exit status."""
    started = time.monotonic()
    notebook = run_chapter(source)
    for problem in problems(notebook):
        print(f"{source.name}: {problem}", file=sys.stderr)
    if problems(notebook):
        return 1
    stored_path(source).write_text(as_text(notebook), encoding="utf-8", newline="\n")
    print(f"{stored_path(source).name} built in {time.monotonic() - started:.0f} s")
    return 0


def check(source):
    """Run a chapter and compare; return the exit status."""
    difference = changes(source)
    print(difference or f"{stored_path(source).name} is up to date")
    return 1 if difference else 0


def changes(source):
    """Run a chapter again and return how it differs from what is stored, as a diff; empty if it does not."""
    if not stored_path(source).exists():
        return f"{stored_path(source).name} has not been built"
    stored = stored_path(source).read_text(encoding="utf-8")
    new = as_text(run_chapter(source))
    both = (stored.splitlines(), new.splitlines())
    lines = difflib.unified_diff(*both, "stored", "run again", n=2, lineterm="")
    return "\n".join(line[:200] for line in lines)


def run_chapter(source):
    """Return the executed notebook of a source, reduced to what is stored.

    A cell that fails ends the run; its error is among the outputs, where `problems` finds it.
    """
    notebook = read_source(source)
    execute(notebook, source.parent.parent)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            reduce_outputs(cell)
    if stored_path(source).exists():
        stored = nbformat.read(stored_path(source), as_version=4)
        keep_varying_outputs(notebook, stored, lambda cell: any(output_problems(cell)))
    return notebook


def read_source(source):
    """Read a MyST Markdown chapter; cells get ids made from their text, and only their tags as metadata."""
    notebook = jupytext.reads(source.read_text(encoding="utf-8"), fmt="md:myst")
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen = {}
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        cell.id = cell_id(cell, seen)
    return notebook


def cell_id(cell, seen):
    """An id that stays when other cells come and go; equal cells are numbered."""
    digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
    seen[digest] = seen.get(digest, 0) + 1
    return digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def execute(notebook, folder):
    """Run all cells in a fresh kernel whose working directory is `folder`."""
    with tempfile.TemporaryDirectory() as scratch:
        client = NotebookClient(
            notebook,
            timeout=SECONDS_PER_CELL,
            kernel_name="python3",
            resources={"metadata": {"path": str(folder)}},
            record_timing=False,
            coalesce_streams=True,
            store_widget_state=False,
        )
        if os.name != "nt":
            use_file_sockets(client.create_kernel_manager(), scratch)
        try:
            client.execute(env=kernel_environment(scratch))
        except CellExecutionError:
            return  # the failed cell holds the error as its output


def use_file_sockets(kernel_manager, folder):
    """Talk to the kernel through files: kernels started at the same time cannot take each other's ports."""
    kernel_manager.transport = "ipc"
    kernel_manager.ip = os.path.join(folder, "kernel")


def kernel_environment(ipython_settings):
    """This process's environment, less what would make outputs differ between machines.

    The kernel finds teachtorch and viz in this checkout, installed or not.
    """
    fixed = {
        "IPYTHONDIR": ipython_settings,
        "PYTHONHASHSEED": "0",
        "NUMBA_NUM_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "2",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PATH": in_front_of("PATH", os.path.dirname(sys.executable)),
        "PYTHONPATH": in_front_of("PYTHONPATH", str(FOLDER.parent)),
    }
    left_out = ("PYTEST_", "FORCE_COLOR")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return inherited | fixed


def in_front_of(variable, folder):
    """The variable's list of folders with one more at the front."""
    return os.pathsep.join(filter(None, (folder, os.environ.get(variable))))


def as_text(notebook):
    """The notebook as the text of its file."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


if __name__ == "__main__":
    sys.exit(main())
