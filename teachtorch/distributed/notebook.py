"""Ranks in a notebook: a cell that runs in several processes.

    %load_ext teachtorch.distributed.notebook

    %%ranks setup
    import teachtorch as torch                 # goes before each of the following programs

    %%ranks 2
    print(torch.distributed.get_rank())        # runs in 2 ranks; their lines are shown by rank

Programs run in the folder `ranks_folder` of the notebook; what they leave there the next cell can read.
"""

import re
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
        """The magic: `setup`, or how many ranks, and then the launcher's flags."""
        if line.strip() == "setup":
            self.setup = cell
            return
        count, *flags = line.split()
        script = self.folder / "program.py"
        script.write_text(self.setup + "\n" + cell, encoding="utf-8")
        show(launch(script, count, flags, self.folder))


def launch(script, count, flags, folder):
    command = [
        sys.executable,
        "-m",
        "teachtorch.distributed.run",
        "--prefix-output",
        "--nproc-per-node",
        count,
        "--timeout",
        str(LIMIT),
        *flags,
        script.name,
    ]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=LIMIT + 30)


def show(done):
    """Print the ranks' lines, by rank; and of a job that failed, what the launcher says about it."""
    for line in sorted(done.stdout.splitlines(), key=rank_of):
        if rank_of(line) < NO_RANK:
            print(line)
    if done.returncode:
        print(verdict(done.stderr))


NO_RANK = 10**9


def rank_of(line):
    """The rank that begins a line of output: "[3] text"."""
    found = re.match(r"\[(\d+)\]", line)
    return int(found[1]) if found else NO_RANK


def verdict(errors):
    """Who died, in the launcher's words, and the last line of the error; without what differs from run to
    run.
    """
    lines = errors.splitlines()
    said = [line for line in lines if line.startswith("teachtorch.distributed.run:")]
    first = re.sub(r" \(pid \d+\)| after [\d.]+ s", "", said[0]) if said else "the job failed"
    return f"{first}\n{lines[-1].strip()}" if " failed" in first and len(said) > 1 else first


def load_ipython_extension(shell):
    """Called by %load_ext."""
    programs = Programs()
    shell.register_magic_function(programs.ranks, "cell", "ranks")
    shell.push({"ranks_folder": programs.folder})
