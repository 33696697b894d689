"""Adds the decay after the momentum."""

FAILS = "test_decay"
SAYS = "goes into the buffer"


def sgd_step(p, g, buffer, lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
    if maximize:
        g = -g
    d = g
    if momentum:
        buffer = g.copy() if buffer is None else momentum * buffer + (1 - dampening) * g
        d = g + momentum * buffer if nesterov else buffer
    p -= lr * (d + weight_decay * p)
    return buffer
