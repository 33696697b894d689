"""Truncated backpropagation through time: long sequences in windows.

A recurrent cell hands its state on from step to step, so the graph of a loss after a thousand steps is a
thousand steps long. Instead, the sequence is cut into windows. Each window has its own loss, its own
backward and its own update; the *value* of the state goes on into the next window, its history does not:

    x0   x1   x2  |  x3   x4   x5  |  x6 ...
    s -> s -> s --X->s -> s -> s --X->s ...       X: detach
    loss, backward,  loss, backward,
    step             step

Without the cut the second backward would go into the first window, whose saved tensors are freed: "a second
time". Then `retain_graph=True` makes the error go away, and the memory grow.
"""

import teachtorch as torch  # noqa: F401


def train(cell, inputs, targets, state, window, step):
    """Run the cell over a sequence, with a backward and an update for each window.

    cell: (input, state) -> (output, new state). inputs, targets: lists of tensors, one a time step. state:
    the first state, a tensor. window: how many time steps a window has; the last one may have fewer. step:
    called without arguments after each window's backward; it updates the parameters and clears what is in
    their .grad.

    The loss of a window is the sum of ((output - target) ** 2).sum() over its time steps. Returns (losses,
    state): the list of the windows' losses, floats, and the last state, a tensor without a graph.
    """
    raise NotImplementedError
