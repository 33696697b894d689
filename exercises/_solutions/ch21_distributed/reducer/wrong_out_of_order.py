"""Begins a bucket when it is full, whatever bucket is before it."""

FAILS = "test_order"
SAYS = "different collectives"


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
        for bucket in self.buckets:
            if index in bucket and all(i in self.grads for i in bucket):
                launch(self, bucket)

    def finish(self):
        """Return {index: average over all ranks}, also of parameters that got no gradient here: they count
        as 0.0.
        """
        for bucket in self.buckets:
            if bucket[0] not in self.averages:
                launch(self, bucket)
        averages = self.averages
        self.grads, self.averages, self.next = {}, {}, 0
        return averages


def launch(reducer, bucket):
    mine = [reducer.grads.get(index, 0.0) / reducer.comm.size for index in bucket]
    reducer.averages.update(zip(bucket, reducer.comm.all_reduce(mine)))
