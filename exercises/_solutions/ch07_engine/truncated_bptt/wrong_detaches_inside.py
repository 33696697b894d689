"""Detaches the state at every time step."""

import teachtorch as torch  # noqa: F401

FAILS = "test_within"
SAYS = "stay connected"


def train(cell, inputs, targets, state, window, step):
    losses = []
    for begin in range(0, len(inputs), window):
        state, loss = state.detach(), 0
        for x, target in zip(inputs[begin : begin + window], targets[begin : begin + window]):
            output, state = cell(x, state.detach())
            loss = loss + ((output - target) ** 2).sum()
        loss.backward()
        step()
        losses.append(loss.item())
    return losses, state.detach()
