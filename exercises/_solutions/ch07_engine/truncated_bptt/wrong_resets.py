"""Begins each window with zeros."""

import teachtorch as torch  # noqa: F401

FAILS = "test_carries_over"
SAYS = "not with zeros"


def train(cell, inputs, targets, state, window, step):
    losses = []
    for begin in range(0, len(inputs), window):
        state, loss = torch.zeros_like(state), 0
        for x, target in zip(inputs[begin : begin + window], targets[begin : begin + window]):
            output, state = cell(x, state)
            loss = loss + ((output - target) ** 2).sum()
        loss.backward()
        step()
        losses.append(loss.item())
    return losses, state.detach()
