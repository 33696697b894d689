"""Finding MPI: mpi4py is imported only when a process group of several ranks is asked for."""

import os
import sys

INSTALL = (
    "teachtorch.distributed with several ranks needs mpi4py and an MPI library, which are not installed "
    "here: "
    "pip install 'teachtorch[distributed]'"
)

# What launchers tell a rank: MPICH and Intel MPI, PMIx, Open MPI.
_SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "PMIX_RANK")
_RANKS = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")
_LOCAL_RANKS = ("MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK")
_LOCAL_SIZES = ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE")


def first_of(names, default=None):
    """The number in the first of these environment variables that is set."""
    return next((int(os.environ[name]) for name in names if name in os.environ), default)


def is_installed():
    """Whether mpi4py is there; its MPI library is looked for only when it is imported."""
    from importlib.util import find_spec

    return find_spec("mpi4py") is not None


def runs_under_mpi():
    """Whether this process was started as a rank of MPI, or holds MPI already."""
    return any(name in os.environ for name in _SIZES) or "mpi4py.MPI" in sys.modules


def load():
    """mpi4py.MPI, initialised. RuntimeError with what to install if it is missing."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(INSTALL) from error
    return MPI


def place_from_environment():
    """(rank, world size, local rank, local size) as the launcher of MPI told them; alone: (0, 1, 0, 1)."""
    rank = first_of(_RANKS, 0)
    size = first_of(("PMI_SIZE", "OMPI_COMM_WORLD_SIZE"), 1)
    return rank, size, first_of(_LOCAL_RANKS, rank), first_of(_LOCAL_SIZES, size)
