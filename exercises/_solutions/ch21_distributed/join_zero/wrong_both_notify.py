"""Each joinable notifies."""

FAILS = "test_one_count"
SAYS = "only the first"


class Joinable:
    """What can take part. `is_first`: whether it is the first of the joinables."""

    def __init__(self, comm):
        self.comm, self.is_first = comm, False

    def notify(self):
        """Tell the finished ranks that this one is at work: an all-reduce of [1], once in an iteration.

        Every joinable calls this at the beginning of its part of an iteration.
        """
        self.comm.all_reduce([1])

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
        self.grads = [total / self.comm.size for total in self.comm.all_reduce([0.0] * len(self.params))]

    def post_hook(self, is_last):
        """All ranks take over `params` and `seen` of the highest rank that was among the last at work."""
        source = self.comm.all_reduce([self.comm.rank if is_last else -1], op=max)[0]
        *self.params[:], self.seen = self.comm.broadcast([*self.params, self.seen], source)


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
        self.step()


def finish(comm, joinables):
    """What a rank does when its inputs are used up, until all are.

    An all-reduce of [0] tells how many ranks are at work; those that are add 1 (`notify`). As long as there
    are any: the main hooks. Then the post hooks. is_last: this rank has not stood in for a single iteration.
    """
    is_last = True
    while comm.all_reduce([0])[0]:
        for joinable in joinables:
            joinable.main_hook()
        is_last = False
    for joinable in joinables:
        joinable.post_hook(is_last)


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
