"""Keeps the graph of all windows, by retain_graph."""

import teachtorch as torch  # noqa: F401

FAILS = "test_no_growth"
SAYS = "holds the windows before"


def train(cell, inputs, targets, state, window, step):
    losses = []
    for begin in range(0, len(inputs), window):
        loss = 0
        for x, target in zip(inputs[begin : begin + window], targets[begin : begin + window]):
            output, state = cell(x, state)
            loss = loss + ((output - target) ** 2).sum()
        loss.backward(retain_graph=True)
        step()
        losses.append(loss.item())
    return losses, state.detach()
