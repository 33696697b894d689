"""Gives a node only to the results of trainable layers."""

FAILS = "test_nodes"
SAYS = "no node, nothing saved"


def gets_gradient(trainable, cut=None):
    first = 0 if cut is None else cut + 1
    return [flag and layer >= first for layer, flag in enumerate(trainable)]


def has_node(trainable, cut=None):
    return list(trainable)


def sgd_moves(value, grad, buffer=None, momentum=0.0, weight_decay=0.0):
    if grad is None:
        return False
    direction = grad + weight_decay * value
    if momentum and buffer is not None:
        direction += momentum * buffer
    return direction != 0
