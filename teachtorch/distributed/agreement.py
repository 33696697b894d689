"""Do all ranks mean the same collective? MPI moves bytes, and nobody else would see that they do not match.

Each rank tells each other, in a few numbers beside the collective itself, what it has begun: which collective, of
what dtype and how many elements, with which operation and root. Where ranks differ, numbers would be wrong in
silence, so it is a RuntimeError. The level DETAIL (debug.py) also compares shapes, and before anything moves.
PyTorch's ProcessGroupWrapper compares at the level DETAIL only, and neither operation nor root.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from ..core import dtype as dtypes
from .debug import DebugLevel, get_debug_level
from .errors import DistBackendError
from .reduce_op import RedOpType
from .work import comes_within, seconds_of

KINDS = {
    "all_reduce": "ALLREDUCE",
    "broadcast": "BROADCAST",
    "reduce": "REDUCE",
    "all_gather": "ALLGATHER",
    "all_gather_into_tensor": "_ALLGATHER_BASE",
    "gather": "GATHER",
    "scatter": "SCATTER",
    "reduce_scatter": "REDUCE_SCATTER",
    "reduce_scatter_tensor": "_REDUCE_SCATTER_BASE",
    "all_to_all": "ALLTOALL",
    "all_to_all_single": "ALLTOALL_BASE",
    "barrier": "BARRIER",
}  # our names, and PyTorch's in its messages
MOST_DIMS = 8  # of a shape that are compared
NONE = -1
KIND, DTYPE, OP, ROOT, NUMEL, DIMS, SHAPE = range(7)  # where a record has what
COUNT = SHAPE + MOST_DIMS


class Meant(NamedTuple):
    """What a rank has begun. `dtype` and `shape` of its part; `counts`: how many bytes it sends to each rank, and how
    many it expects of each, where that may differ.
    """

    name: str
    dtype: object = None
    shape: tuple = None
    op: object = None
    root: int = NONE
    counts: tuple = None


def meant(name, tensor, op=None, root=NONE):
    """What is said of a collective in which every rank has a part of the same size."""
    return Meant(name, tensor.dtype, tuple(tensor.shape), op, root)


@functools.lru_cache(maxsize=1024)  # a training loop says the same again and again
def records(meant, ranks):
    """What is sent: an array of int64, a record for each of `ranks` ranks."""
    record = np.full(COUNT + 1, NONE, np.int64)
    record[KIND], record[ROOT] = list(KINDS).index(meant.name), meant.root
    record[OP] = NONE if meant.op is None else meant.op
    if meant.dtype is not None:
        record[DTYPE] = dtypes.ALL.index(meant.dtype)
    if meant.shape is not None:
        shape = meant.shape[:MOST_DIMS]
        record[NUMEL], record[DIMS] = math.prod(meant.shape), len(meant.shape)
        record[SHAPE : SHAPE + len(shape)] = shape
    made = np.tile(record, (ranks, 1))
    if meant.counts is not None:
        made[:, COUNT] = meant.counts[0]
    return made


class Check:
    """The records of all ranks on their way; it can be waited for as a Work can (work.py)."""

    arrives_at = 0.0

    def __init__(self, group, meant):
        self.group, self.meant, self.place = group, meant, (group.group_name, group.number + 1, meant.name)
        self.number, group.compared = group.compared, group.compared + 1
        self.looks_closely = get_debug_level() == DebugLevel.DETAIL
        self.mine = records(meant, group.size())
        self.theirs = np.empty_like(self.mine)
        self.request = group.transport.exchange(self.mine, self.theirs)
        self.is_done = False
        group.keep(self)

    def has_come(self):
        return self.is_done or self.request.Test()

    def is_completed(self):
        """Whether all ranks have told. RuntimeError if one of them means something else."""
        if not self.is_done and self.has_come():
            self.complete()
        return self.is_done

    def complete(self):
        self.is_done = True
        self.group.on_the_way.discard(self)
        if self.meant.counts is None and self.mine.tobytes() == self.theirs.tobytes():
            return
        for rank in np.flatnonzero(self.differ()):
            raise RuntimeError(self.words(rank))

    def differ(self):
        """For each rank, whether it means something else than this one."""
        compared = slice(0, COUNT if self.looks_closely else NUMEL + 1)
        found = (self.mine[:, compared] != self.theirs[:, compared]).any(1)
        if self.meant.counts is not None:
            found |= self.theirs[:, COUNT] != self.meant.counts[1]
        return found

    def words(self, rank):
        me = self.group.rank()
        mine, theirs = self.mine[rank], self.theirs[rank]
        return (
            f"Detected mismatch between collectives on ranks. Rank {self.group.ranks[me]} is running collective: "
            f"{self.fingerprint(mine)}, but Rank {self.group.ranks[rank]} is running collective: "
            f"{self.fingerprint(theirs)}. Collectives differ in the following aspects: \t "
            + "\t ".join(self.aspects(mine, theirs, rank))
        )

    def aspects(self, mine, theirs, rank):
        """What differs, in PyTorch's words where it has some."""
        shapes = slice(NUMEL, COUNT) if self.looks_closely else slice(NUMEL, NUMEL + 1)
        found = [
            f"{what}: {say(mine)} vs {say(theirs)}"
            for what, where, say in (
                ("Op type", slice(KIND, KIND + 1), kind_of),
                ("Tensor Tensor shapes", shapes, shape_of),
                ("Tensor Tensor dtypes", slice(DTYPE, DTYPE + 1), dtype_of),
                ("Reduce op", slice(OP, OP + 1), op_of),
                ("Root rank", slice(ROOT, ROOT + 1), root_of),
            )
            if (mine[where] != theirs[where]).any()
        ]
        if not found:
            found = [f"Bytes: {self.meant.counts[1][rank]} are expected, but {theirs[COUNT]} sent"]
        return found

    def fingerprint(self, record):
        """The record as PyTorch writes it."""
        parts = [f"SequenceNumber={self.number}", f"OpType={kind_of(record)}"]
        parts += [f"TensorShape={shape_of(record)}"] if record[DIMS] != NONE else []
        parts += [f"TensorDtypes={dtype_of(record)}"] if record[DTYPE] != NONE else []
        parts += [f"ReduceOp={op_of(record)}"] if record[OP] != NONE else []
        parts += [f"Root={record[ROOT]}"] if record[ROOT] != NONE else []
        return f"CollectiveFingerPrint({', '.join(parts)})"


def kind_of(record):
    return list(KINDS.values())[record[KIND]]


def shape_of(record):
    return [int(size) for size in record[SHAPE : SHAPE + max(record[DIMS], 0)]]


def dtype_of(record):
    return "none" if record[DTYPE] == NONE else dtypes.scalar_type_name(dtypes.ALL[record[DTYPE]])


def root_of(record):
    return "none" if record[ROOT] == NONE else record[ROOT]


def op_of(record):
    return "none" if record[OP] == NONE else RedOpType(record[OP]).name


def compare(group, meant, waits, timeout=None):
    """Begin to compare with the other ranks, before the collective itself: what its Work has to wait for, or None.

    If the caller waits for the collective anyway (`waits`), it does so here: what does not fit together may crash MPI.
    Where some ranks may go on before others have come, later collectives look at it. At the level DETAIL all wait.
    """
    if group.size() == 1:
        return None
    look_back(group)
    check, needs_all = Check(group, meant), waits_for_all(meant, group.rank())
    if check.looks_closely or (waits and needs_all):
        for each in (*group.unverified, check):  # all have come here: then they have told of the earlier ones
            wait_for(each, seconds_of(timeout, group.timeout))
        group.unverified.clear()
        return None
    if not needs_all:
        group.unverified.append(check)
        return None
    return check


def waits_for_all(meant, rank):
    """Whether the collective cannot end here before all ranks have come."""
    return meant.root == NONE or (meant.root == rank and meant.name in ("reduce", "gather"))


def wait_for(check, seconds):
    if not check.is_completed() and not comes_within(check, seconds):
        raise DistBackendError(check.group.who_is_missing(check.place, seconds))


def look_back(group):
    """Look at what no Work waits for, in the order in which it was begun."""
    while group.unverified and group.unverified[0].is_completed():
        group.unverified.pop(0)
