"""Treats a gradient of zero as none."""

FAILS = "test_zero"
SAYS = "weight decay adds"


def gets_gradient(trainable, cut=None):
    first = 0 if cut is None else cut + 1
    return [flag and layer >= first for layer, flag in enumerate(trainable)]


def has_node(trainable, cut=None):
    found, needed = [], False
    for layer, flag in enumerate(trainable):
        needed = needed or flag
        found.append(needed)
        needed = needed and layer != cut
    return found


def sgd_moves(value, grad, buffer=None, momentum=0.0, weight_decay=0.0):
    if not grad:
        return False
    direction = grad + weight_decay * value
    if momentum and buffer is not None:
        direction += momentum * buffer
    return direction != 0
