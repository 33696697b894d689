"""Thinks that detach() affects only the layer it stands behind."""

FAILS = "test_cut"
SAYS = "nor to layer 0"


def gets_gradient(trainable, cut=None):
    return [flag and layer != cut for layer, flag in enumerate(trainable)]


def has_node(trainable, cut=None):
    found, needed = [], False
    for layer, flag in enumerate(trainable):
        needed = needed or flag
        found.append(needed)
        needed = needed and layer != cut
    return found


def sgd_moves(value, grad, buffer=None, momentum=0.0, weight_decay=0.0):
    if grad is None:
        return False
    direction = grad + weight_decay * value
    if momentum and buffer is not None:
        direction += momentum * buffer
    return direction != 0
