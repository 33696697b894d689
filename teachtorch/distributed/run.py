"""The launcher: start a script as several ranks, and say which one died.

    python -m teachtorch.distributed.run --nproc-per-node 4 train.py --epochs 3
    python -m teachtorch.distributed.run --nproc-per-node 8 --nnodes 2 --hosts node1,node2 train.py

Its flags are torchrun's where MPI has a use for them. Each rank finds RANK, LOCAL_RANK and WORLD_SIZE in its
environment. When a rank dies all others are ended: MPI cannot go on with fewer.
https://docs.pytorch.org/docs/stable/elastic/run.html
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from . import black_box, mpi

IGNORED = ("--standalone", "--no-ssh")
IGNORED_WITH_VALUE = (
    "--rdzv-backend",
    "--rdzv-endpoint",
    "--rdzv-id",
    "--rdzv-conf",
    "--master-addr",
    "--master-port",
    "--node-rank",
    "--start-method",
    "--role",
    "--monitor-interval",
    "--local-addr",
)
# mpiexec kills all ranks as soon as one dies, and does not say reliably which died first. So each has a
# witness, a shell that waits for it and writes its exit code down, before mpiexec hears of it.
WITNESS = (
    """"$@"
code=$?
{ echo $code > "$%s/exit-${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}"; } 2>/dev/null
exit $code"""
    % black_box.FOLDER
)
PATIENCE = 5.0  # seconds that ranks get to end after they were told to


def parser():
    made = argparse.ArgumentParser(
        prog="python -m teachtorch.distributed.run",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument(
        "--nproc-per-node",
        "--nproc_per_node",
        default="1",
        metavar="N",
        help="ranks on each machine: a number, or auto or cpu for one per core",
    )
    made.add_argument("--nnodes", default="1", help="how many machines (default 1); MIN:MAX counts as MAX")
    made.add_argument("--hosts", help="machines, separated by commas; handed to mpiexec")
    made.add_argument("--hostfile", "-f", help="a file with one machine a line; handed to mpiexec")
    made.add_argument("--timeout", type=float, help="end the job after so many seconds")
    made.add_argument(
        "--max-restarts", "--max_restarts", type=int, default=0, help="only 0: MPI cannot replace a rank"
    )
    made.add_argument("--prefix-output", action="store_true", help="begin each line of output with the rank")
    made.add_argument("-m", "--module", action="store_true", help="run a module instead of a script")
    for name in IGNORED:
        made.add_argument(
            name, name.replace("-", "_").replace("__", "--"), action="store_true", help=argparse.SUPPRESS
        )
    for name in IGNORED_WITH_VALUE:
        made.add_argument(name, "--" + name[2:].replace("-", "_"), help=argparse.SUPPRESS)
    made.add_argument("script", help="what to run")
    made.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    return made


def main(argv=None):
    """Run the job and return its exit status."""
    options = parser().parse_args(argv)
    if options.max_restarts:
        raise SystemExit(
            "--max-restarts: a rank of MPI cannot be replaced; start the script again from its checkpoint"
        )
    with tempfile.TemporaryDirectory(prefix="teachtorch-ranks-") as folder:
        return Job(options, folder).run()


def ranks_per_machine(text):
    if text in ("auto", "cpu", "gpu"):
        return os.cpu_count() or 1
    if not text.isdigit() or int(text) < 1:
        raise SystemExit(f"--nproc-per-node: expected a number, auto or cpu, got {text!r}")
    return int(text)


def mpiexec():
    """The mpiexec beside this Python, else the one on PATH."""
    beside = shutil.which("mpiexec", path=os.path.dirname(sys.executable))
    found = beside or shutil.which("mpiexec")
    if found is None or not mpi.is_installed():
        raise SystemExit(mpi.INSTALL)
    return found


def command(options, ranks, on_each):
    """The command line of mpiexec."""
    line = [mpiexec(), "-n", str(ranks)]
    if options.hosts or options.hostfile:
        line += ["-ppn", str(on_each)]
        line += ["-hosts", options.hosts] if options.hosts else ["-f", options.hostfile]
    line += ["-prepend-rank"] if options.prefix_output else []
    rank = [sys.executable, "-m", "mpi4py", "-m", f"{__package__}.rank"]
    rank += (["-m"] if options.module else []) + [options.script, *options.arguments]
    return line + (["/bin/sh", "-c", WITNESS, "sh"] if os.path.exists("/bin/sh") else []) + rank


def environment(folder, ranks):
    """What the ranks inherit. One thread each, as torchrun has it: they would fight for the cores."""
    made = dict(os.environ, TORCHELASTIC_RUN_ID="none", **{black_box.FOLDER: folder})
    made["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), made.get("PATH", "")])
    if ranks > 1:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
            made.setdefault(name, "1")
    return made


class Job:
    """One run: mpiexec, its output, and the black boxes of its ranks."""

    def __init__(self, options, folder):
        on_each = ranks_per_machine(options.nproc_per_node)
        self.ranks = on_each * int(options.nnodes.split(":")[-1])
        self.folder, self.timeout = folder, options.timeout
        self.command = command(options, self.ranks, on_each)
        self.timed_out = self.interrupted = False

    def run(self):
        started = time.monotonic()
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace"}
        self.child = subprocess.Popen(
            self.command, env=environment(self.folder, self.ranks), start_new_session=True, **pipes
        )
        readers = [
            threading.Thread(target=self.pass_on, args=pair, daemon=True)
            for pair in ((self.child.stdout, sys.stdout), (self.child.stderr, sys.stderr))
        ]
        for reader in readers:
            reader.start()
        self.wait()
        self.end_the_rest()
        for reader, pipe in zip(readers, (self.child.stdout, self.child.stderr)):
            reader.join(PATIENCE)
            pipe.close()
        return self.conclude(time.monotonic() - started)

    def pass_on(self, pipe, target):
        """Hand the output on, line by line."""
        for line in pipe:
            target.write(line)
            target.flush()

    def wait(self):
        """Wait for the end, or bring it about: when the time is over, and when this process is told to
        end.
        """
        before = signal.signal(signal.SIGTERM, raise_interrupt)
        try:
            self.child.wait(self.timeout)
        except subprocess.TimeoutExpired:
            self.timed_out = True
            self.end()
        except KeyboardInterrupt:
            self.interrupted = True
            self.end()
        finally:
            signal.signal(signal.SIGTERM, before)

    def end(self):
        """End mpiexec, which ends its ranks, and then whatever is left of them."""
        for word in (signal.SIGTERM, signal.SIGKILL):
            signal_group(self.child.pid, word)
            try:
                self.child.wait(PATIENCE)
                break
            except subprocess.TimeoutExpired:
                continue
        self.end_the_rest()

    def end_the_rest(self):
        """A rank whose witness was ended ends itself; this is for those that cannot."""
        for content in black_box.read(self.folder).values():
            if content["exit"] is None:
                signal_group(content["pid"], signal.SIGKILL, os.kill)

    def conclude(self, seconds):
        """Say how it ended; the exit status."""
        boxes = black_box.read(self.folder)
        if self.interrupted or self.timed_out:
            say(
                f"ended after {seconds:.1f} s, {'as it was told' if self.interrupted else 'its --timeout'}. "
                "Where the ranks were:"
            )
            for rank, content in sorted(boxes.items()):
                say_where(rank, content)
            return 130 if self.interrupted else 124
        culprit = first_failed(boxes) or first_dead(boxes) or first_unfinished(boxes)
        if self.child.returncode == 0 and culprit is None:
            return 0
        self.name(culprit, seconds)
        return self.child.returncode or 1

    def name(self, culprit, seconds):
        if culprit is None:
            say(f"the job failed after {seconds:.1f} s with status {self.child.returncode}")
            return
        how = "failed" if culprit["state"] == "failed" else how_it_died(culprit["exit"])
        say(
            f"rank {culprit['rank']} (pid {culprit['pid']}) {how} after {seconds:.1f} s; "
            "the other ranks were ended with it."
        )
        say_where(culprit["rank"], culprit)


def raise_interrupt(*_):
    raise KeyboardInterrupt


SEND_TO_GROUP = getattr(os, "killpg", os.kill)


def signal_group(pid, word, send=SEND_TO_GROUP):
    try:
        send(pid, word)
    except ProcessLookupError:
        return


def first_failed(boxes):
    """The rank whose exception came first; the others' came of it."""
    failed = [content for content in boxes.values() if content["state"] == "failed"]
    return min(failed, key=lambda content: content["time"], default=None)


def first_dead(boxes):
    """The rank whose witness saw it end badly; those that mpiexec ended have lost their witness."""
    return next((content for content in boxes.values() if content["exit"] not in (None, 0)), None)


def first_unfinished(boxes):
    """A rank that ended well before its script did: os._exit(0)."""
    return next(
        (content for content in boxes.values() if content["exit"] == 0 and content["state"] == "running"),
        None,
    )


def how_it_died(code):
    """The words for an exit code as a shell gives it: 128 + signal."""
    number = code - 128
    if number in set(signal.Signals):
        return f"died by signal {number} ({signal.Signals(number).name})"
    return f"ended with exit code {code}" + ("" if code else ", in the middle of its script,")


def say(text):
    print(f"teachtorch.distributed.run: {text}", file=sys.stderr, flush=True)


def say_where(rank, content):
    text = content["traceback"].rstrip() or "  (nothing was recorded yet)"
    when = "Its last traceback" if content["state"] == "running" else "Its traceback"
    say(f"rank {rank}, {content['state']}. {when}:\n{text}")


if __name__ == "__main__":
    sys.exit(main())
