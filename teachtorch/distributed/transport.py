"""What carries the bytes: MPI among several ranks, nothing at all for one.

Both have the same methods, on contiguous arrays; each begins an operation and returns a request, whose
`Test()` says whether it is complete. Reductions and broadcasts work in place.
"""

import functools

import numpy as np

from .reduce_op import RedOpType

_UFUNCS = {
    RedOpType.SUM: np.add,
    RedOpType.AVG: np.add,
    RedOpType.PRODUCT: np.multiply,
    RedOpType.MIN: np.minimum,
    RedOpType.MAX: np.maximum,
    RedOpType.BAND: np.bitwise_and,
    RedOpType.BOR: np.bitwise_or,
    RedOpType.BXOR: np.bitwise_xor,
}
_NAMES = {
    RedOpType.SUM: "SUM",
    RedOpType.AVG: "SUM",
    RedOpType.PRODUCT: "PROD",
    RedOpType.MIN: "MIN",
    RedOpType.MAX: "MAX",
    RedOpType.BAND: "BAND",
    RedOpType.BOR: "BOR",
    RedOpType.BXOR: "BXOR",
}
_TYPES = {
    "uint8": "UINT8_T",
    "int8": "INT8_T",
    "int16": "INT16_T",
    "int32": "INT32_T",
    "int64": "INT64_T",
    "float32": "FLOAT",
    "float64": "DOUBLE",
}


class Done:
    """The request of an operation that is complete when it begins."""

    def Test(self):
        return True


class Receipt:
    """The request of a receive, which learns who has sent."""

    source = None

    def __init__(self, MPI, request):
        self.request, self.status = request, MPI.Status()

    def Test(self):
        if self.source is None and self.request.Test(self.status):
            self.source = self.status.source
        return self.source is not None


class Alone:
    """A group of one rank: what it sends, it has."""

    def all_reduce(self, array, op):
        return Done()

    def broadcast(self, array, root):
        return Done()

    def reduce(self, array, op, root):
        return Done()

    def copy(self, sent, received, *_):
        received.reshape(-1)[...] = sent.reshape(-1)
        return Done()

    reduce_scatter = all_gather = gather = scatter = all_to_all = copy

    def barrier(self):
        return Done()

    def send(self, array, to, tag):
        raise ValueError(
            "Invalid destination rank: destination rank should not be the same as the rank of the current process."
        )

    def receive(self, array, source, tag):
        raise ValueError("Invalid source rank: source rank should not be the same as the rank of the current process.")


class OverMPI:
    """A communicator of mpi4py, its operations begun and not waited for.

    `side`: another one of the same ranks, for what they tell each other besides.
    """

    def __init__(self, MPI, comm, side=None):
        self.MPI, self.comm, self.side = MPI, comm, side

    def exchange(self, mine, theirs):
        """Send row r of `mine` to each rank r, and receive one from each, beside the other operations."""
        return self.side.Ialltoall(self.bytes(mine), self.bytes(theirs))

    def all_reduce(self, array, op):
        return self.comm.Iallreduce(self.MPI.IN_PLACE, self.elements(array), self.operation(op, array))

    def broadcast(self, array, root):
        return self.comm.Ibcast(self.bytes(array), root)

    def reduce(self, array, op, root):
        is_root = self.comm.rank == root
        sent, received = (self.MPI.IN_PLACE, self.elements(array)) if is_root else (self.elements(array), None)
        return self.comm.Ireduce(sent, received, self.operation(op, array), root)

    def reduce_scatter(self, sent, received, op):
        """`sent` has a part for each rank, one after the other; each receives the reduction of its own."""
        sent, part = apart(sent, received), self.elements(received)
        return self.comm.Ireduce_scatter_block([as_bytes(sent), *part[1:]], part, self.operation(op, sent))

    def all_gather(self, sent, received):
        return self.comm.Iallgather(self.bytes(apart(sent, received)), self.bytes(received))

    def gather(self, sent, received, root):
        return self.comm.Igather(self.bytes(sent), None if received is None else self.bytes(received), root)

    def scatter(self, sent, received, root):
        return self.comm.Iscatter(None if sent is None else self.bytes(sent), self.bytes(received), root)

    def all_to_all(self, sent, received, sent_counts, received_counts):
        """`sent_counts[r]` bytes go to rank r, one part after the other."""
        return self.comm.Ialltoallv(
            [as_bytes(apart(sent, received)), sent_counts, None, self.MPI.BYTE],
            [as_bytes(received), received_counts, None, self.MPI.BYTE],
        )

    def barrier(self):
        return self.comm.Ibarrier()

    def send(self, array, to, tag):
        return self.comm.Isend(self.bytes(array), to, tag)

    def receive(self, array, source, tag):
        source = self.MPI.ANY_SOURCE if source is None else source
        return Receipt(self.MPI, self.comm.Irecv(self.bytes(array), source, tag))

    def bytes(self, array):
        return [as_bytes(array), self.MPI.BYTE]

    def elements(self, array):
        """The array with its MPI type; what MPI has no type for travels as integers of its width."""
        kind = _TYPES.get(array.dtype.name) or {1: "UINT8_T", 2: "INT16_T"}[array.dtype.itemsize]
        return [as_bytes(array), array.size, getattr(self.MPI, kind)]

    def operation(self, op, array):
        """MPI's own operation for its own types; one that calls NumPy for the others (float16, bfloat16, bool).

        Also for the smaller and the larger of floats: of NaN and a number, MPI's own gives what came first, and that is
        not the same on all ranks.
        """
        picks = op in (RedOpType.MIN, RedOpType.MAX) and array.dtype.name in ("float32", "float64")
        if array.dtype.name in _TYPES and not picks:
            return getattr(self.MPI, _NAMES[op])
        return numpy_operation(self.MPI, op, array.dtype)


@functools.cache
def numpy_operation(MPI, op, dtype):
    """An MPI operation on arrays of `dtype`, made once: MPI keeps only a few."""
    ufunc = _UFUNCS[op]

    def combine(mine, result, datatype):
        result = np.frombuffer(result, dtype)
        with np.errstate(all="ignore"):
            result[...] = ufunc(np.frombuffer(mine, dtype), result)

    return MPI.Op.Create(combine, commute=op not in (RedOpType.MIN, RedOpType.MAX))  # of 0.0 and -0.0, the first


def apart(sent, received):
    """What is sent, in memory of its own if it lies in what is received: MPI forbids that."""
    return sent.copy() if np.may_share_memory(sent, received) else sent


def as_bytes(array):
    """The same memory as a row of bytes."""
    return array.reshape(-1).view(np.uint8)
