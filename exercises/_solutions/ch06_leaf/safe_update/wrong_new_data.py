"""Gives the parameter other memory."""

import teachtorch as torch

FAILS = "test_data"
SAYS = "the same memory"


def update_no_grad(p, lr):
    with torch.no_grad():
        p -= lr * p.grad


def update_data(p, lr):
    p.data = p.data - lr * p.grad


def update_detach(p, lr):
    p.detach().sub_(lr * p.grad)


def update_out(p, lr):
    with torch.no_grad():
        torch.sub(p, lr * p.grad, out=p)


def backward_notices():
    return {"no_grad": True, "data": False, "detach": True, "out": True}
