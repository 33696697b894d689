"""Ranks in a notebook: a cell that runs in several processes.

    %load_ext teachtorch.distributed.notebook

    %%ranks setup
    import teachtorch as torch                 # goes before each of the following programs

    %%ranks 2
    print(torch.distributed.get_rank())        # runs in 2 ranks; what they print is shown rank by rank

    %%ranks 2 fails
    raise ValueError                           # shows what the launcher says; without the word the cell fails

Programs run in the folder `ranks_folder` of the notebook; what they leave there the next cell can read.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 100  # seconds for one program


class Programs:
    """The text that goes before each program, and the folder of all."""

    def __init__(self):
        self.setup, self.temporary = "", tempfile.TemporaryDirectory(prefix="teachtorch-notebook-")
        self.folder = Path(self.temporary.name)

    def ranks(self, line, cell):
        """The magic: `setup`, or how many ranks, `fails` if they shall, and the launcher's flags."""
        if line.strip() == "setup":
            self.setup = cell
            return
        count, *flags = line.split()
        fails = "fails" in flags
        script = self.folder / "program.py"
        script.write_text(self.setup + "\n" + cell, encoding="utf-8")
        done = launch(script, count, [flag for flag in flags if flag != "fails"], self.folder)
        show(done, self.folder)
        if fails != bool(done.returncode):
            raise RuntimeError("the ranks were expected to fail" if fails else "the ranks have failed")


def launch(script, count, flags, folder):
    """The finished launcher. What the ranks have printed lies in the folder's `output`."""
    shutil.rmtree(folder / "output", ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "teachtorch.distributed.run",
        "--redirects",
        "1",
        "--log-dir",
        "output",
        "--nproc-per-node",
        count,
        "--timeout",
        str(LIMIT),
        *flags,
        script.name,
    ]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=LIMIT + 30)


def show(done, folder):
    """Print what the ranks have printed, rank by rank; and of a job that failed, what the launcher says."""
    for rank, text in printed_by_rank(folder / "output"):
        for line in text.splitlines():
            print(f"[{rank}] {line}")
    if done.returncode:
        print(verdict(done.stderr))


def printed_by_rank(folder):
    """(rank, its text) of each rank, in order."""
    ranks = sorted(int(path.name) for path in folder.iterdir()) if folder.is_dir() else ()
    for rank in ranks:
        yield rank, (folder / str(rank) / "stdout.log").read_text(encoding="utf-8", errors="replace")


def verdict(errors):
    """Who died, in the launcher's words, and the last line of the error; without what differs from run to run."""
    lines = errors.splitlines()
    said = [line for line in lines if line.startswith("teachtorch.distributed.run:")]
    first = re.sub(r" \(pid \d+\)| after [\d.]+ s", "", said[0]) if said else "the job failed"
    return f"{first}\n{lines[-1].strip()}" if " failed" in first and len(said) > 1 else first


def load_ipython_extension(shell):
    """Called by %load_ext."""
    programs = Programs()
    shell.register_magic_function(programs.ranks, "cell", "ranks")
    shell.push({"ranks_folder": programs.folder})
