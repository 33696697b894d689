"""Leaves out a shorter last window."""

import teachtorch as torch  # noqa: F401

FAILS = "test_short"
SAYS = "2 + 2 + 1"


def train(cell, inputs, targets, state, window, step):
    losses = []
    for begin in range(0, len(inputs) - window + 1, window):
        state, loss = state.detach(), 0
        for x, target in zip(inputs[begin : begin + window], targets[begin : begin + window]):
            output, state = cell(x, state)
            loss = loss + ((output - target) ** 2).sum()
        loss.backward()
        step()
        losses.append(loss.item())
    return losses, state.detach()
