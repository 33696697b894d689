"""Stochastic gradient descent with momentum."""
from ..ops.fused_optim import fused_sgd
from ..tensor import Tensor
from .optimizer import Optimizer, loss_of, number, updating

SMALL = 32768       # elements


class SGD(Optimizer):
    """p -= lr * d, where d is the gradient with weight decay, momentum and Nesterov's variant as asked.

        g += weight_decay * p
        buffer = momentum * buffer + (1 - dampening) * g        the first buffer is g itself, without dampening
        d = g + momentum * buffer if nesterov else buffer       or g, without momentum

    `lr`: a number or a 1-element tensor. `maximize`: climb instead. `differentiable`: record the step in the graph.
    `fused`: one operator for all small parameters (the default, where PyTorch's is the for-loop); False: operators in
    a for-loop over the parameters. `foreach` is accepted and means the for-loop. Parameters without gradient are
    skipped: no decay, no momentum. ValueError for options out of range.
    https://pytorch.org/docs/stable/generated/torch.optim.SGD.html
    """

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
                 foreach=None, differentiable=False, fused=None):
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("learning rate", lr), ("momentum value", momentum), ("weight_decay value", weight_decay)):
            if value < 0:
                raise ValueError(f"Invalid {name}: {value}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused})
        if fused and differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if fused and foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in (("nesterov", False), ("maximize", False), ("foreach", None),
                                  ("differentiable", False), ("fused", False)):
                group.setdefault(name, default)

    @updating
    def step(self, closure=None):
        """Update every parameter that has a gradient; returns the closure's loss."""
        loss = loss_of(closure)
        for group in self.param_groups:
            self._update(group)
        return loss

    def _update(self, group):
        fused, others = [], []
        fuse, momentum = may_fuse(group), group["momentum"]
        for p in group["params"]:
            if p.grad is not None:
                (fused if fuse and self._is_small(p, momentum) else others).append(p)
        if fused:
            self._update_at_once(fused, group)
        for p in others:
            self._update_one(p, group)

    def _is_small(self, p, momentum):
        """Whether calling operators would cost more than their work: then fused is faster."""
        return (p.numel() <= SMALL and p.is_cpu and p.dtype is p.grad.dtype and p.dtype.is_floating_point
                and (not momentum or "momentum_buffer" in self.state[p]))

    def _update_at_once(self, params, group):
        momentum = group["momentum"]
        buffers = [self.state[p]["momentum_buffer"] for p in params] if momentum else []
        fused_sgd(params, [p.grad for p in params], buffers, group["weight_decay"], momentum, group["lr"],
                  group["dampening"], group["nesterov"], group["maximize"], False)

    def _update_one(self, p, group):
        """By operators; a learning rate that is a tensor and requires grad gets one."""
        lr = group["lr"]
        direction = self._direction(p, p.grad, group)
        if isinstance(lr, Tensor) and lr.requires_grad:
            p.addcmul_(direction, lr.squeeze(), value=-1)
        else:
            p.add_(direction, alpha=-number(lr))

    def _direction(self, p, grad, group):
        """Where to step: the gradient, decayed, with momentum."""
        if group["maximize"]:
            grad = -grad
        if is_used(group["weight_decay"]):
            grad = decayed(grad, p, group["weight_decay"])
        if not group["momentum"]:
            return grad
        buffer = self._momentum_buffer(p, grad, group)
        return grad.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer

    def _momentum_buffer(self, p, grad, group):
        state = self.state[p]
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = grad.detach().clone()
            return buffer
        return buffer.mul_(group["momentum"]).add_(grad, alpha=1 - group["dampening"])


def may_fuse(group):
    """Whether the fused operator is wanted and knows the options."""
    numbers = not isinstance(group["lr"], Tensor) and not isinstance(group["weight_decay"], Tensor)
    return numbers and not group["differentiable"] and not group["foreach"] and group["fused"] is not False


def is_used(weight_decay):
    return isinstance(weight_decay, Tensor) or weight_decay != 0


def decayed(grad, p, weight_decay):
    """The gradient plus weight_decay * p; a weight decay that requires grad gets one."""
    if isinstance(weight_decay, Tensor) and weight_decay.requires_grad:
        return grad.addcmul(p.clone(), weight_decay)
    return grad.add(p, alpha=number(weight_decay))
