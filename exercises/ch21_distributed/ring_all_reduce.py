"""All-reduce on a ring: every rank speaks with its two neighbours only, and no link carries more than it
must.

Rank r sends to rank r + 1 and receives from rank r - 1 (the last one sends to rank 0). The list is cut into
as many parts as there are ranks. In the first size - 1 steps each rank passes a part on and adds what it
receives to its own, so that in the end each has one part that is complete. In the next size - 1 steps the
complete parts go round.

    comm.rank, comm.size
    comm.isend(to, values)      begins to send a list; returns a request, whose wait() returns when it was
    received
    comm.send(to, values)       the same with waiting: the other rank must be receiving
    comm.recv(source)           waits for a list from a rank, and returns it

Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, 2009.
"""


def parts(length, size):
    """[(begin, end)] of `size` parts of a list, as equal as possible, the longer ones first."""
    ends = [0]
    for part in range(size):
        ends.append(ends[-1] + length // size + (part < length % size))
    return list(zip(ends, ends[1:]))


def ring_all_reduce(comm, values):
    """Return the list of sums over all ranks. Each rank sends 2 * (size - 1) messages, each of one part.

    values: a list of numbers, as long on every rank.
    """
    raise NotImplementedError
