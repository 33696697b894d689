"""Makes a state for every parameter."""

FAILS = "test_no_state"
SAYS = "costs no memory"


class Parameter:
    def __init__(self, value, grad=None):
        self.value, self.grad = (value, grad)


class Momentum:
    def __init__(self, parameters, lr, momentum, weight_decay):
        self.parameters, self.state = (list(parameters), {})
        self.lr, self.momentum, self.weight_decay = (lr, momentum, weight_decay)

    def zero_grad(self, set_to_none=True):
        for p in self.parameters:
            if p.grad is not None:
                p.grad = None if set_to_none else 0.0

    def step(self):
        for p in self.parameters:
            state = self.state.setdefault(id(p), {"step": 0, "buffer": 0.0})
            if p.grad is None:
                continue
            state["step"] += 1
            state["buffer"] = self.momentum * state["buffer"] + p.grad + self.weight_decay * p.value
            p.value -= self.lr * state["buffer"]


def frozen_ways():
    return {"grad_none": True, "grad_zero": False, "requires_grad": True, "lr_zero": True}
