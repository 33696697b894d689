"""Sends everything at the end."""

FAILS = "test_early"
SAYS = "before the last gradient"


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
        self.grads[index] = grad

    def finish(self):
        """Return {index: average over all ranks}, also of parameters that got no gradient here: they count
        as 0.0.
        """
        while self.next < len(self.buckets):
            launch(self)
        averages = self.averages
        self.grads, self.averages, self.next = {}, {}, 0
        return averages


def launch(reducer):
    bucket = reducer.buckets[reducer.next]
    reducer.next += 1
    mine = [reducer.grads.get(index, 0.0) / reducer.comm.size for index in bucket]
    reducer.averages.update(zip(bucket, reducer.comm.all_reduce(mine)))
