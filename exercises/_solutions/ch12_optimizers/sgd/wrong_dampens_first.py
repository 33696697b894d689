"""Dampens the first step as well."""

FAILS = "test_dampening"
SAYS = "not (1 - dampening)"


def sgd_step(p, g, buffer, lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
    if maximize:
        g = -g
    if weight_decay:
        g = g + weight_decay * p
    d = g
    if momentum:
        buffer = (0 if buffer is None else momentum * buffer) + (1 - dampening) * g
        d = g + momentum * buffer if nesterov else buffer
    p -= lr * d
    return buffer
