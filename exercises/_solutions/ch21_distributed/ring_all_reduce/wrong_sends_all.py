"""Passes whole lists round: right, but each link carries size - 1 lists."""

FAILS = "test_traffic"
SAYS = "numbers"


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
    values = list(values)
    after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    passing, total = values, values
    for _ in range(comm.size - 1):
        request = comm.isend(after, passing)
        passing = comm.recv(before)
        total = [mine + theirs for mine, theirs in zip(total, passing)]
        request.wait()
    return total
