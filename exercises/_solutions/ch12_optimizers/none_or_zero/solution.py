"""No gradient, and a gradient of zero: not the same.

    p.grad is None     the optimizer passes over p: no decay, no momentum, no state, no count
    p.grad is zero     an ordinary step: the decay shrinks p, momentum carries it on, the step counts

zero_grad() sets None since PyTorch 2.0. Before, it filled with zeros, and a frozen layer went on moving.
"""


class Parameter:
    """value: a float. grad: a float or None."""

    def __init__(self, value, grad=None):
        self.value, self.grad = value, grad


class Momentum:
    """SGD with momentum and weight decay over a list of Parameters.

    state: a dict from id(parameter) to {"step": int, "buffer": float}, empty at the start. It has an entry
    only for parameters that had a gradient once.
    """

    def __init__(self, parameters, lr, momentum, weight_decay):
        self.parameters, self.state = list(parameters), {}
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay

    def zero_grad(self, set_to_none=True):
        """Forget all gradients. With set_to_none=False those that are there become 0.0; None stays None."""
        # solution
        for p in self.parameters:
            if p.grad is not None:
                p.grad = None if set_to_none else 0.0
        # end of solution

    def step(self):
        """g = grad + weight_decay * value; buffer = momentum * buffer + g, from 0; value -= lr * buffer."""
        # solution
        for p in self.parameters:
            if p.grad is None:
                continue
            state = self.state.setdefault(id(p), {"step": 0, "buffer": 0.0})
            state["step"] += 1
            state["buffer"] = self.momentum * state["buffer"] + p.grad + self.weight_decay * p.value
            p.value -= self.lr * state["buffer"]
        # end of solution


def frozen_ways():
    """Which of these keep a parameter at its value, in a step with momentum and weight decay?

    Return a dict with True or False for each. The parameter has been trained before, so it has a buffer.

        grad_none         its grad is None
        grad_zero         its grad is zero
        requires_grad     requires_grad_(False), and zero_grad() after it
        lr_zero           its group has lr=0
    """
    # solution
    return {"grad_none": True, "grad_zero": False, "requires_grad": True, "lr_zero": True}
    # end of solution
