"""The reducer of DistributedDataParallel: averages bucket by bucket, while gradients are still coming.

Each rank runs your function with a communicator `comm` of its own:

    comm.rank, comm.size
    comm.all_reduce(values)             the sums over all ranks, as a new list; op=max for the largest
    comm.broadcast(values, source)      the list of rank `source`
    comm.all_gather(value)              [what each rank passed]

All ranks must make the same collectives in the same order, with lists of the same length. The ranks are
processes, which MPI brings together. If all of them wait for each other, this communicator notices and says
where; MPI itself would wait for ever.
"""


class Reducer:
    """Averages gradients of parameters 0, 1, 2..., which come in any order, a different one on each rank.

    comm: the communicator. buckets: lists of indices of parameters, in the order in which they travel.

    One pass: `ready(index, grad)` for parameters, then `finish()`. Then the next pass may begin.
    """

    def __init__(self, comm, buckets):
        self.comm, self.buckets = comm, buckets
        self.grads = {}  # what came in this pass
        self.averages = {}  # what has travelled
        self.next = 0  # the bucket whose turn it is

    def ready(self, index, grad):
        """The gradient of a parameter, a number, is complete.

        Begin the all-reduce of a bucket as soon as all its gradients are there and all buckets before it have
        begun.
        """
        raise NotImplementedError

    def finish(self):
        """Return {index: average over all ranks}, also of parameters that got no gradient here: they count
        as 0.0.
        """
        raise NotImplementedError
