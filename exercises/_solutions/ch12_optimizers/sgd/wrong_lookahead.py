"""Nesterov with the buffer of the step before."""

FAILS = "test_nesterov"
SAYS = "with the new buffer"


def sgd_step(p, g, buffer, lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
    if maximize:
        g = -g
    if weight_decay:
        g = g + weight_decay * p
    d = g
    if momentum:
        old = g * 0 if buffer is None else buffer
        buffer = g.copy() if buffer is None else momentum * buffer + (1 - dampening) * g
        d = g + momentum * old if nesterov else buffer
    p -= lr * d
    return buffer
