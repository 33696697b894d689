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
import sys
import tempfile

from . import black_box, mpi, rank
from .job import Job

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
# mpiexec kills all ranks as soon as one dies, and does not say reliably which died first; and of a rank that
# dies before it has come to MPI_Init it takes no notice at all. So each has a witness, a shell that waits for
# it and writes its exit code down, before mpiexec hears of it.
WITNESS = f"""export {black_box.WITNESS}=$$
"$@"
code=$?
{{ echo $code > "${black_box.FOLDER}/exit-${{PMI_RANK:-${{OMPI_COMM_WORLD_RANK:-0}}}}"; }} 2>/dev/null
exit $code"""


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
    made.add_argument("--max-restarts", "--max_restarts", type=int, default=0, help="only 0: MPI cannot replace a rank")
    made.add_argument("--prefix-output", action="store_true", help="begin each line of output with the rank")
    made.add_argument("--log-dir", "--log_dir", help="where --redirects puts the files")
    made.add_argument(
        "--redirects",
        "-r",
        default="0",
        choices=("0", "1", "2", "3"),
        help="1: standard output of rank N goes to LOG_DIR/N/stdout.log, 2: standard error to stderr.log, 3: both",
    )
    made.add_argument("-m", "--module", action="store_true", help="run a module instead of a script")
    for name in IGNORED:
        made.add_argument(name, name.replace("-", "_").replace("__", "--"), action="store_true", help=argparse.SUPPRESS)
    for name in IGNORED_WITH_VALUE:
        made.add_argument(name, "--" + name[2:].replace("-", "_"), help=argparse.SUPPRESS)
    made.add_argument("script", help="what to run")
    made.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    return made


def main(argv=None):
    """Run the job and return its exit status."""
    options = parser().parse_args(argv)
    if options.max_restarts:
        raise SystemExit("--max-restarts: a rank of MPI cannot be replaced; start the script again from its checkpoint")
    with tempfile.TemporaryDirectory(prefix="teachtorch-ranks-") as folder:
        on_each = ranks_per_machine(options.nproc_per_node)
        ranks = on_each * int(options.nnodes.split(":")[-1])
        line = command(options, ranks, on_each)
        inherited = {**environment(folder, ranks), **redirection(options)}
        return Job(line, inherited, folder, options.timeout).run()


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
    each = [sys.executable, "-m", "mpi4py", "-m", f"{__package__}.rank"]
    each += (["-m"] if options.module else []) + [options.script, *options.arguments]
    return line + (["/bin/sh", "-c", WITNESS, "sh"] if os.path.exists("/bin/sh") else []) + each


def redirection(options):
    """What tells the ranks where their output goes."""
    if options.redirects == "0":
        return {}
    if not options.log_dir:
        raise SystemExit("--redirects: say with --log-dir where the files go")
    return {rank.REDIRECTS: options.redirects, rank.LOG_DIR: os.path.abspath(options.log_dir)}


def environment(folder, ranks):
    """What the ranks inherit. One thread each, as torchrun has it: they would fight for the cores."""
    places = {black_box.FOLDER: folder, black_box.LAUNCHER: str(os.getpid())}
    made = dict(os.environ, TORCHELASTIC_RUN_ID="none", **places)
    made["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), made.get("PATH", "")])
    if ranks > 1:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
            made.setdefault(name, "1")
    return made


if __name__ == "__main__":
    sys.exit(main())
