"""A leak: a running loss that keeps every graph alive.

    total = 0
    for batch in batches:
        loss = ...
        loss.backward()
        total += loss           # total is a tensor, and its graph holds the graphs of all losses so far

A tensor that requires a gradient holds its graph: the nodes, and whatever they hold. A Python float holds
nothing. And a view, however small, holds the whole memory of the tensor it looks into.
"""

import teachtorch as torch


def count_nodes(tensor):
    """Return how many nodes the graph of a tensor has, AccumulateGrad nodes too; 0 without a graph.

    tensor: any tensor. Each node counts once, however many edges lead to it (see `.grad_fn`,
    `.next_functions`).
    """
    raise NotImplementedError


def average_loss(losses):
    """Run backward on each loss, and return the average of their values as a float.

    losses: an iterator over tensors of one element with a graph; the next one is only made when you ask for
    it. By then nothing of the graph of the one before may be alive. At least one comes.
    """
    raise NotImplementedError


def keep_row(outputs):
    """Return the first row of a matrix, to look at later: no graph, and no memory but the row's own.

    outputs: a tensor of shape (N, M). Returns a tensor of shape (M,) with the same values.
    """
    raise NotImplementedError
