"""Parameters that a pass did not use: who decides what becomes of `.grad`?

Each rank runs your function with a communicator `comm` of its own:

    comm.rank, comm.size
    comm.all_reduce(values)             the sums over all ranks, as a new list; op=max for the largest
    comm.broadcast(values, source)      the list of rank `source`
    comm.all_gather(value)              [what each rank passed]

All ranks must make the same collectives in the same order, with lists of the same length. The ranks are
processes, which MPI brings together. If all of them wait for each other, this communicator notices and says
where; MPI itself would wait for ever.
"""


def average_used(comm, grads, used):
    """Average the gradients of a pass in which some parameters may be unused.

    grads: `.grad` of each parameter, a number or None; used: for each parameter whether this rank's pass has
    used it. Return the new `.grad` list: where any rank has used the parameter, the average over all ranks,
    None counting as 0.0; where none has, what was there before, untouched.

    Make two all-reduces, on every rank: one of the gradients, one that tells who used what.
    """
    raise NotImplementedError


def is_used(outputs):
    """The names of the parameters that backward from the outputs will reach.

    outputs: a list of nodes; a node is (name, [nodes that it was computed from]); a parameter is (name, []).
    Nodes may be reached in many ways: visit each once.
    """
    raise NotImplementedError
