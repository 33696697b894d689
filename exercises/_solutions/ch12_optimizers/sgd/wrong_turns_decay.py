"""Turns the sign of the decay as well."""

FAILS = "test_maximize"
SAYS = "still shrinks"


def sgd_step(p, g, buffer, lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
    if weight_decay:
        g = g + weight_decay * p
    g = -g if maximize else g
    d = g
    if momentum:
        buffer = g.copy() if buffer is None else momentum * buffer + (1 - dampening) * g
        d = g + momentum * buffer if nesterov else buffer
    p -= lr * d
    return buffer
