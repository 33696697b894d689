"""Hogwild: several processes train one model in shared memory, without a lock (Recht et al., 2011; paper section 5.4).

The parameters are shared, so every process sees every step at once. Gradients are not: `.grad` is None when
the processes start, and each backward fills its own. The optimizer's state is each process's own, too. Two
steps that write a parameter at the same time may lose one of the updates; a single float32 is never half
written.

    model.share_memory()
    hogwild(model, images, labels, nprocs=2, epochs=10)

https://pytorch.org/docs/stable/notes/multiprocessing.html#hogwild
"""
from ..kernels.parallel import set_num_threads
from ..nn import functional as F
from ..ops.generators import manual_seed
from ..ops.random import randperm
from .processes import start_processes


def hogwild(model, images, labels, nprocs=2, epochs=10, lr=0.1, start_method="spawn"):
    """Train a classifier whose parameters are shared. Each process takes every nprocs-th example.

    images: float tensor [N, ...]; labels: int64 tensor [N]. ValueError if a parameter is not shared: each
    process would train a copy, and nothing would come back.
    """
    if not all(p.is_shared() for p in model.parameters()):
        raise ValueError("the parameters are not shared: call model.share_memory() first")
    arguments = model, images, labels, nprocs, epochs, lr
    start_processes(train, arguments, nprocs=nprocs, start_method=start_method)


def train(rank, model, images, labels, nprocs, epochs, lr):
    """What process number `rank` does: plain SGD on its part of the examples."""
    set_num_threads(1)                   # the processes are the parallelism
    manual_seed(rank)
    images, labels = images[rank::nprocs], labels[rank::nprocs]
    for _ in range(epochs):
        for batch in randperm(len(labels)).split(16):
            step(model, images[batch], labels[batch], lr)


def step(model, images, labels, lr):
    """One step of SGD, written out: where another process writes in between, an update may be lost."""
    F.cross_entropy(model(images), labels).backward()
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-lr)
        p.grad = None
