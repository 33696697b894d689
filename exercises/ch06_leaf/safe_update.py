"""Update a parameter, in four ways, and know which of them a backward notices.

    p -= lr * p.grad

As it stands this raises: a leaf that requires a gradient must not be changed in place where grad mode is on.
And `p = p - lr * p.grad` makes another tensor: the model still holds the old one. These four change the
parameter itself, and each one goes by another way:

    no_grad    in place, under torch.no_grad()
    data       in place, through p.data
    detach     in place, through p.detach()
    out        torch.sub(..., out=...), under torch.no_grad()

Suppose that a graph has saved p before the update, and its backward comes after it. Its gradient would be
computed from the new p, which is wrong. Three of the four ways are noticed: that backward raises.
"""

import teachtorch as torch


def update_no_grad(p, lr):
    """Change p in place to p - lr * p.grad, under no_grad. Returns nothing."""
    raise NotImplementedError


def update_data(p, lr):
    """Change p in place to p - lr * p.grad, through p.data. Returns nothing."""
    raise NotImplementedError


def update_detach(p, lr):
    """Change p in place to p - lr * p.grad, through p.detach(). Returns nothing."""
    raise NotImplementedError


def update_out(p, lr):
    """Write p - lr * p.grad into p by torch.sub(..., out=...), under no_grad. Returns nothing."""
    raise NotImplementedError


def backward_notices():
    """Return a dict: no_grad, data, detach, out -> whether a later backward that has saved p raises."""
    raise NotImplementedError
