"""Grades who_moves.py."""

import teachtorch as torch
from exercises.grading import equal, points

nn = torch.nn


def real_chain(trainable, cut):
    """(which layers have a gradient, which results have a node), as the library does it."""
    layers = [nn.Linear(1, 1) for _ in trainable]
    for layer, flag in zip(layers, trainable):
        layer.requires_grad_(flag)
    x, nodes = torch.ones(1, 1), []
    for number, layer in enumerate(layers):
        x = layer(x)
        nodes.append(x.grad_fn is not None)
        x = x.detach() if number == cut else x
    if x.requires_grad:
        x.sum().backward()
    return [layer.bias.grad is not None for layer in layers], nodes


def real_step(value, grad, buffer, momentum, weight_decay):
    """Whether the library's SGD moves the parameter."""
    p = nn.Parameter(torch.tensor([value], dtype=torch.float64))
    optimizer = torch.optim.SGD([p], lr=1.0, momentum=momentum, weight_decay=weight_decay)
    if buffer is not None:
        optimizer.state[p]["momentum_buffer"] = torch.tensor([buffer], dtype=torch.float64)
    p.grad = None if grad is None else torch.tensor([grad], dtype=torch.float64)
    optimizer.step()
    return p.item() != value


@points(1, "a frozen layer gets no gradient")
def test_frozen(yours):
    equal(yours.gets_gradient([True, False]), [True, False], "the second one is frozen")
    equal(yours.gets_gradient([False, False]), [False, False], "nothing to train")


@points(1, "but lets gradients through")
def test_through(yours):
    why = "a frozen layer lets the gradient through: layer 0 is trainable, and nothing is cut"
    equal(yours.gets_gradient([True, False, True]), [True, False, True], why)


@points(1, "detach() cuts everything before it")
def test_cut(yours):
    why = "detach behind layer 1: no gradient comes to layer 1, nor to layer 0 before it"
    equal(yours.gets_gradient([True, True, True], cut=1), [False, False, True], why)
    equal(yours.gets_gradient([True, True], cut=1), [False, False], "the loss itself is cut off")


@points(1, "which results have a node")
def test_nodes(yours):
    why = "nothing trainable stands before the result of layer 0: no node, nothing saved"
    equal(yours.has_node([False, True, False]), [False, True, True], why)
    equal(yours.has_node([False, False]), [False, False], "without anything trainable there is no graph")


@points(1, "and after a detach()")
def test_nodes_cut(yours):
    why = "the result of layer 0 has its node; what comes after the detach begins anew, and layer 1 is frozen"
    equal(yours.has_node([True, False, True], cut=0), [True, False, True], why)


@points(1, "SGD skips None, and nothing else")
def test_none(yours):
    equal(yours.sgd_moves(1.0, None, 5.0, 0.9, 0.1), False, "no gradient: skipped, whatever else there is")
    equal(yours.sgd_moves(1.0, 0.5), True, "a gradient")
    equal(yours.sgd_moves(1.0, 0.0), False, "a gradient of zero, and nothing to add to it")


@points(2, "a gradient of zero, and it moves all the same")
def test_zero(yours):
    why = "the gradient is 0, but weight decay adds 0.1 * 2"
    equal(yours.sgd_moves(2.0, 0.0, weight_decay=0.1), True, why)
    why = "the gradient is 0, but momentum still carries 0.9 * 5"
    equal(yours.sgd_moves(1.0, 0.0, 5.0, momentum=0.9), True, why)
    equal(yours.sgd_moves(0.0, 0.0, weight_decay=0.1), False, "0.1 * 0 is nothing")


@points(2, "any chain and any step, as the library runs them")
def test_any(yours, rng):
    for _ in range(20):
        trainable = [rng.random() < 0.5 for _ in range(rng.randint(1, 4))]
        cut = rng.choice([None, None, rng.randrange(len(trainable))])
        gradients, nodes = real_chain(trainable, cut)
        equal(yours.gets_gradient(trainable, cut), gradients, "trainable, and behind the cut")
        equal(yours.has_node(trainable, cut), nodes, "something trainable before it, behind the cut")
        step = (rng.choice([0.0, 2.0]), rng.choice([None, 0.0, 4.0]), rng.choice([None, 8.0]))
        more = rng.choice([0.0, 0.5]), rng.choice([0.0, 0.25])
        equal(yours.sgd_moves(*step, *more), real_step(*step, *more), "by the formula of SGD")
