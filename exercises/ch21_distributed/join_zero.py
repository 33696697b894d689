"""Join with two joinables: gradients are averaged (DDP), and the optimizer's state is divided (ZeRO).

Each rank runs `train` with a communicator `comm` of its own:

    comm.rank, comm.size
    comm.all_reduce(values)             the sums over all ranks, as a new list; op=max for the largest
    comm.broadcast(values, source)      the list of rank `source`
    comm.all_gather(value)              [what each rank passed]

A rank whose inputs are used up is not free to go. The others' averages need its zeros, and it owns the state
of some parameters, which nobody else can update. So in every further iteration it calls the main_hook of each
joinable, in their order; in the end all ranks call the post_hooks.

The ranks are processes, which MPI brings together. If all of them wait for each other, this communicator
notices and says where; MPI itself would wait for ever.
"""


class Joinable:
    """What can take part. `is_first`: whether it is the first of the joinables."""

    def __init__(self, comm):
        self.comm, self.is_first = comm, False

    def notify(self):
        """Tell the finished ranks that this one is at work: an all-reduce of [1], once in an iteration.

        Every joinable calls this at the beginning of its part of an iteration.
        """
        raise NotImplementedError

    def main_hook(self):
        """Stand in for this rank's part of an iteration of the others."""

    def post_hook(self, is_last):
        """All ranks are done. is_last: whether this rank was among the last at work."""


class Ddp(Joinable):
    """Averages gradients. params: a list of numbers. `seen`: how many inputs this rank has seen, a buffer."""

    def __init__(self, comm, params):
        super().__init__(comm)
        self.params, self.grads, self.seen = params, [0.0] * len(params), 0

    def backward(self, grads):
        """`grads` becomes the average over all ranks; finished ones count, too."""
        self.notify()
        self.seen += 1
        self.grads = [total / self.comm.size for total in self.comm.all_reduce(grads)]

    def main_hook(self):
        """Take part in the others' backward with zeros. `grads` is then the average, as it is theirs."""
        raise NotImplementedError

    def post_hook(self, is_last):
        """All ranks take over `params` and `seen` of the highest rank that was among the last at work."""
        raise NotImplementedError


class Zero(Joinable):
    """SGD with momentum, v = momentum * v + grad, p = p - lr * v.

    Rank i % size owns parameter i and its v.
    """

    def __init__(self, comm, ddp, lr, momentum):
        super().__init__(comm)
        self.ddp, self.lr, self.momentum = ddp, lr, momentum
        self.v = {i: 0.0 for i in range(len(ddp.params)) if self.is_mine(i)}

    def is_mine(self, index):
        """Whether this rank owns a parameter."""
        return index % self.comm.size == self.comm.rank

    def step(self):
        """Update what this rank owns; then every owner broadcasts its parameters."""
        self.notify()
        params = self.ddp.params
        for i in self.v:
            self.v[i] = self.momentum * self.v[i] + self.ddp.grads[i]
            params[i] -= self.lr * self.v[i]
        for i in range(len(params)):
            params[i] = self.comm.broadcast([params[i]], i % self.comm.size)[0]

    def main_hook(self):
        """What this rank must do in an iteration of the others, since nobody else can."""
        raise NotImplementedError


def finish(comm, joinables):
    """What a rank does when its inputs are used up, until all are.

    An all-reduce of [0] tells how many ranks are at work; those that are add 1 (`notify`). As long as there
    are any: the main hooks. Then the post hooks. is_last: this rank has not stood in for a single iteration.
    """
    raise NotImplementedError


def train(comm, inputs, lr=0.5, momentum=0.5):
    """Train three parameters, whose gradients for an input x are x, 2 x and 3 x; return (Ddp, Zero)."""
    ddp = Ddp(comm, [0.0, 0.0, 0.0])
    zero = Zero(comm, ddp, lr, momentum)
    ddp.is_first = True
    for x in inputs:
        ddp.backward([x, 2 * x, 3 * x])
        zero.step()
    finish(comm, [ddp, zero])
    return ddp, zero
