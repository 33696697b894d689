"""How the launcher starts each rank: python -m mpi4py -m teachtorch.distributed.rank [-m] script.py args.

mpi4py around it ends all ranks when this one fails. Here the environment that PyTorch's scripts read is set,
and then the script runs as `__main__`.
"""

import os
import runpy
import sys

from . import black_box, mpi

REDIRECTS = "TEACHTORCH_REDIRECTS"  # environment, from the launcher's flags: 1, 2 or 3
LOG_DIR = "TEACHTORCH_LOG_DIR"


def main(arguments):
    sys.stdout.reconfigure(
        line_buffering=True, write_through=False
    )  # whole lines, at once: the ranks share a terminal
    set_environment(*mpi.place_from_environment())
    redirect(int(os.environ.pop(REDIRECTS, 0)), os.environ.pop(LOG_DIR, ""))
    box = black_box.start(int(os.environ["RANK"]))
    try:
        run(arguments)
    except BaseException as error:
        if box is not None and not is_good_end(error):
            box.failed(error)
        raise


def is_good_end(error):
    return isinstance(error, SystemExit) and error.code in (None, 0)


def redirect(which, folder):
    """Have standard output (1), standard error (2) or both (3) written to files of this rank."""
    mine = os.path.join(folder, os.environ["RANK"])
    for bit, name in ((1, "stdout"), (2, "stderr")):
        if which & bit:
            os.makedirs(mine, exist_ok=True)
            stream = getattr(sys, name)
            stream.flush()
            with open(os.path.join(mine, f"{name}.log"), "wb") as file:
                os.dup2(file.fileno(), stream.fileno())


def set_environment(rank, size, local_rank, local_size):
    """RANK, WORLD_SIZE and the like, as torchrun sets them."""
    os.environ.update(
        RANK=str(rank),
        WORLD_SIZE=str(size),
        LOCAL_RANK=str(local_rank),
        LOCAL_WORLD_SIZE=str(local_size),
        GROUP_RANK=str(rank // local_size),
        ROLE_RANK=str(rank),
        ROLE_WORLD_SIZE=str(size),
        GROUP_WORLD_SIZE=str(max(1, size // local_size)),
    )
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29500")


def run(arguments):
    """Run a script, or with -m a module, as Python would."""
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
