"""ZeRO: the optimizer's state is divided among the ranks.

Each rank runs your function with a communicator `comm` of its own:

    comm.rank, comm.size
    comm.all_reduce(values)             the sums over all ranks, as a new list; op=max for the largest
    comm.broadcast(values, source)      the list of rank `source`
    comm.all_gather(value)              [what each rank passed]

All ranks must make the same collectives in the same order, with lists of the same length. The ranks are
processes, which MPI brings together. If all of them wait for each other, this communicator notices and says
where; MPI itself would wait for ever.
"""


def partition(sizes, ranks):
    """Return the owner of each parameter, a list of ranks.

    The largest parameter is given first, each to the rank whose parameters are smallest together so far, of
    equals to the lowest. Parameters of one size are given in their order.
    """
    raise NotImplementedError


class ZeroMomentum:
    """SGD with momentum, v = momentum * v + grad, p = p - lr * v, with each v on its owner only.

    params: lists of numbers, changed in place by step. `state`: {index of a parameter: its v}, of this rank's
    own.
    """

    def __init__(self, comm, params, lr, momentum):
        self.comm, self.params, self.lr, self.momentum = comm, params, lr, momentum
        self.owners = partition([len(param) for param in params], comm.size)
        self.state = {}

    def step(self, grads):
        """One step. grads: a list for each parameter, the same on all ranks; afterwards all ranks have equal
        parameters.
        """
        raise NotImplementedError

    def consolidate(self):
        """Return the whole state, {index: v}, on every rank; all ranks call this."""
        raise NotImplementedError
