"""Gradient accumulation: several backward passes, one all-reduce.

Each rank runs your function with a communicator `comm` of its own:

    comm.rank, comm.size
    comm.all_reduce(values)             the sums over all ranks, as a new list; op=max for the largest
    comm.broadcast(values, source)      the list of rank `source`
    comm.all_gather(value)              [what each rank passed]

All ranks must make the same collectives in the same order, with lists of the same length. The ranks are
processes, which MPI brings together. If all of them wait for each other, this communicator notices and says
where; MPI itself would wait for ever.
"""


class Accumulator:
    """The `.grad` of one parameter on one rank, as DistributedDataParallel treats it. `grad` is None or a
    number.
    """

    def __init__(self, comm):
        self.comm, self.grad = comm, None

    def backward(self, grad, sync=True):
        """Add the gradient of a batch to `.grad`, as backward does.

        With sync, `.grad` then becomes the average over all ranks; without (no_sync), nothing is sent.
        """
        raise NotImplementedError

    def zero_grad(self):
        self.grad = None


def train_step(accumulator, grads):
    """One step over several micro-batches, with a single all-reduce: return `.grad` at its end.

    grads: the gradient of each micro-batch's loss, already divided by their number. `.grad` is None at the
    beginning.
    """
    raise NotImplementedError
