"""Updates after every time step."""

import teachtorch as torch  # noqa: F401

FAILS = "test_steps"
SAYS = "two windows of 3"


def train(cell, inputs, targets, state, window, step):
    losses = []
    for begin in range(0, len(inputs), window):
        state, loss = state.detach(), 0
        for x, target in zip(inputs[begin : begin + window], targets[begin : begin + window]):
            output, state = cell(x, state)
            error = ((output - target) ** 2).sum()
            error.backward(retain_graph=True)
            step()
            loss = loss + error.detach()
        losses.append(loss.item())
    return losses, state.detach()
