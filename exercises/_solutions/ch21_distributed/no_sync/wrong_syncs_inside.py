"""Sends something for every micro-batch."""

FAILS = "test_one_all_reduce"
SAYS = "all-reduces"


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
        self.grad = grad if self.grad is None else self.grad + grad
        if sync:
            self.grad = self.comm.all_reduce([self.grad])[0] / self.comm.size

    def zero_grad(self):
        self.grad = None


def train_step(accumulator, grads):
    """One step over several micro-batches, with a single all-reduce: return `.grad` at its end.

    grads: the gradient of each micro-batch's loss, already divided by their number. `.grad` is None at the
    beginning.
    """
    *before, last = grads
    for grad in before:
        accumulator.backward(grad)
    accumulator.backward(last)
    return accumulator.grad
