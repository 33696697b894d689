"""Every rank waits until its part was received, before it receives."""

FAILS = "test_no_deadlock"
SAYS = "waits in send"


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
    cut = parts(len(values), comm.size)
    after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for step in range(2 * (comm.size - 1)):
        shift = 0 if step < comm.size - 1 else 1
        begin, end = cut[(comm.rank + shift - step % (comm.size - 1)) % comm.size]
        comm.send(after, values[begin:end])
        begin, end = cut[(comm.rank + shift - step % (comm.size - 1) - 1) % comm.size]
        received = comm.recv(before)
        if step < comm.size - 1:
            received = [mine + theirs for mine, theirs in zip(values[begin:end], received)]
        values[begin:end] = received
    return values
