"""Stochastic gradient descent with momentum."""
from .optimizer import Optimizer


class SGD(Optimizer):
    """p -= lr * d, where d is the gradient with weight decay, momentum and Nesterov's variant as asked.

    The first momentum buffer is the gradient itself, without dampening.
    https://pytorch.org/docs/stable/generated/torch.optim.SGD.html
    """

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False):
        for name, value in (("learning rate", lr), ("momentum value", momentum), ("weight_decay value", weight_decay)):
            if value < 0:
                raise ValueError(f"Invalid {name}: {value}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
                                      nesterov=nesterov, maximize=maximize))

    def _update(self, group):
        for p in group["params"]:
            if p.grad is not None:
                p.add_(self._direction(p, group), alpha=-group["lr"])

    def _direction(self, p, group):
        """Where to step: the gradient, decayed, with momentum."""
        d = -p.grad if group["maximize"] else p.grad
        if group["weight_decay"]:
            d = d.add(p, alpha=group["weight_decay"])
        if not group["momentum"]:
            return d
        buffer = self._momentum_buffer(p, d, group)
        return d.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer

    def _momentum_buffer(self, p, d, group):
        state = self.state[p]
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = d.clone().detach()
            return buffer
        return buffer.mul_(group["momentum"]).add_(d, alpha=1 - group["dampening"])
