"""Your own engine, put together: it trains the digits.

The parts are those of the other exercises: unbroadcast, accumulate, diamond, routing. Take what you wrote
there. A tensor here is an array with a node; a node knows where its gradients go, and the formula that
makes them:

    out = add(matmul(x, w), b)

    AddBackward ---> MatmulBackward ---> None              x requires no gradient
        |                   +----------> AccumulateGrad w
        +----------------------------> AccumulateGrad b

`record` makes the tensor and the node. The operations say which formula belongs to them; `backward` runs
the nodes, each one once, when all its gradients have come. With that, `train` trains a network.
"""

import heapq
import itertools

import numpy as np

NUMBERS = itertools.count()


class Node:
    """next_nodes: where the gradients go, None for a constant operand. formula: grad -> list of gradients."""

    def __init__(self, name, next_nodes, formula):
        self.name, self.next_nodes, self.formula = name, next_nodes, formula
        self.sequence_nr = next(NUMBERS)

    def __repr__(self):
        return self.name


class Tensor:
    """An array, perhaps with a gradient. node: what made it; AccumulateGrad for a leaf that requires one."""

    def __init__(self, data, requires_grad=False, node=None):
        self.data = np.asarray(data, dtype=float)
        self.grad = None
        self.node = node
        if requires_grad and node is None:
            self.node = Node("AccumulateGrad", [], lambda grad: accumulate(self, grad))

    def __repr__(self):
        return f"Tensor({self.data.tolist()})"


def record(name, data, operands, formula):
    """Return the result of an operation, with a node if an operand has one. It is complete.

    data: the result's array. operands: the tensors. formula: grad -> a list with a gradient for each operand.
    """
    next_nodes = [each.node for each in operands]
    node = Node(name, next_nodes, formula) if any(next_nodes) else None
    return Tensor(data, node=node)


def unbroadcast(grad, shape):
    """Sum grad, an array, over what was broadcast, so that it has this shape, the operand's."""
    raise NotImplementedError


def accumulate(leaf, grad):
    """Put a gradient into leaf.grad, or add it; never keep the array that came. Returns []."""
    raise NotImplementedError


def add(a, b):
    """The sum of two tensors, with broadcasting."""
    raise NotImplementedError


def matmul(a, b):
    """The product of two matrices."""
    raise NotImplementedError


def relu(a):
    """a where it is positive, 0 elsewhere."""
    raise NotImplementedError


def cross_entropy(scores, labels):
    """The average over the rows of -log(softmax(row)[label]); finite for any finite scores.

    scores: a tensor of shape (N, C). labels: an integer array of shape (N,). Returns a 0-dim tensor.
    """
    raise NotImplementedError


def backward(loss):
    """Fill .grad of all leaves that the loss depends on. loss: a tensor of one element, with a node.

    Each node runs once, with the sum of all gradients that lead to it. The graph may be a chain of many
    thousand nodes, so do not recurse.
    """
    raise NotImplementedError


def train(images, labels):
    """Train a network on pictures and return a function, pictures -> predicted labels.

    images: a float array (N, 64), values from 0 to 1. labels: an integer array (N,), 0 to 9. A network of
    two layers (64 -> 32 -> 10) and plain gradient descent are enough: 30 times over the pictures, 64 at a
    time. It has a few seconds.
    """
    raise NotImplementedError
