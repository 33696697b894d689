"""Puts the learning rate into the buffer."""

FAILS = "test_lr"
SAYS = "in the second step"


def sgd_step(p, g, buffer, lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
    if maximize:
        g = -g
    if weight_decay:
        g = g + weight_decay * p
    d = g
    if momentum:
        buffer = lr * g if buffer is None else momentum * buffer + (1 - dampening) * lr * g
        d = (lr * g + momentum * buffer if nesterov else buffer) / lr
    p -= lr * d
    return buffer
