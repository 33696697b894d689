"""Thinks that a backward notices a change through .data."""

import teachtorch as torch

FAILS = "test_notices"
SAYS = "and is wrong"


def update_no_grad(p, lr):
    with torch.no_grad():
        p -= lr * p.grad


def update_data(p, lr):
    p.data -= lr * p.grad


def update_detach(p, lr):
    p.detach().sub_(lr * p.grad)


def update_out(p, lr):
    with torch.no_grad():
        torch.sub(p, lr * p.grad, out=p)


def backward_notices():
    return {"no_grad": True, "data": True, "detach": True, "out": True}
