"""Never clears .grad while it trains."""

import heapq
import itertools

import numpy as np

FAILS = "test_digits"
SAYS = "clear .grad before each backward"

NUMBERS = itertools.count()


class Node:
    def __init__(self, name, next_nodes, formula):
        self.name, self.next_nodes, self.formula = name, next_nodes, formula
        self.sequence_nr = next(NUMBERS)

    def __repr__(self):
        return self.name


class Tensor:
    def __init__(self, data, requires_grad=False, node=None):
        self.data = np.asarray(data, dtype=float)
        self.grad = None
        self.node = node
        if requires_grad and node is None:
            self.node = Node("AccumulateGrad", [], lambda grad: accumulate(self, grad))

    def __repr__(self):
        return f"Tensor({self.data.tolist()})"


def record(name, data, operands, formula):
    next_nodes = [each.node for each in operands]
    node = Node(name, next_nodes, formula) if any(next_nodes) else None
    return Tensor(data, node=node)


def unbroadcast(grad, shape):
    added = grad.ndim - len(shape)
    grown = [added + dim for dim, size in enumerate(shape) if size == 1 and grad.shape[added + dim] != 1]
    return grad.sum((*range(added), *grown), keepdims=True).reshape(shape)


def accumulate(leaf, grad):
    leaf.grad = grad.copy() if leaf.grad is None else leaf.grad + grad
    return []


def add(a, b):
    def formula(grad):
        return [unbroadcast(grad, a.data.shape), unbroadcast(grad, b.data.shape)]

    return record("AddBackward", a.data + b.data, [a, b], formula)


def matmul(a, b):
    def formula(grad):
        return [grad @ b.data.T, a.data.T @ grad]

    return record("MatmulBackward", a.data @ b.data, [a, b], formula)


def relu(a):
    return record("ReluBackward", np.maximum(a.data, 0), [a], lambda grad: [grad * (a.data > 0)])


def cross_entropy(scores, labels):
    rows = np.arange(len(labels))
    shifted = scores.data - scores.data.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))

    def formula(grad):
        probabilities = np.exp(logs)
        probabilities[rows, labels] -= 1
        return [grad * probabilities / len(labels)]

    return record("CrossEntropyBackward", -logs[rows, labels].mean(), [scores], formula)


def backward(loss):
    counts = _count(loss.node)
    buffers, ready = {loss.node: np.ones_like(loss.data)}, [(0, 0, loss.node)]
    while ready:
        node = heapq.heappop(ready)[-1]
        for following, part in zip(node.next_nodes, node.formula(buffers.pop(node))):
            if following is None:
                continue
            buffers[following] = buffers[following] + part if following in buffers else part
            counts[following] -= 1
            if counts[following] == 0:
                heapq.heappush(ready, (-following.sequence_nr, id(following), following))


def train(images, labels):
    random = np.random.default_rng(0)
    shapes = [(64, 32), (1, 32), (32, 10), (1, 10)]
    parameters = [
        Tensor(random.standard_normal(shape) / shape[0] ** 0.5, requires_grad=True) for shape in shapes
    ]
    for _ in range(30):
        order = random.permutation(len(labels))
        for begin in range(0, len(labels), 64):
            batch = order[begin : begin + 64]
            _step(parameters, images[batch], labels[batch])
    return lambda images: _scores(parameters, images).data.argmax(1)


def _count(root):
    counts, stack = {root: 0}, [root]
    while stack:
        for following in stack.pop().next_nodes:
            if following is None:
                continue
            if following not in counts:
                counts[following] = 0
                stack.append(following)
            counts[following] += 1
    return counts


def _scores(parameters, images):
    w1, b1, w2, b2 = parameters
    return add(matmul(relu(add(matmul(Tensor(images), w1), b1)), w2), b2)


def _step(parameters, images, labels):
    backward(cross_entropy(_scores(parameters, images), labels))
    for each in parameters:
        each.data = each.data - 0.3 * each.grad
