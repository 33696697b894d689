"""Stochastic gradient descent with momentum."""
from ..ops.fused_optim import fused_sgd, unscaled
from ..tensor import Tensor
from .implementations import (FOR_LOOP, FOREACH, RuleOptimizer, by_dtype, check_fused, check_fused_options,
                              choose, climbing, may_shortcut, zeros_like)
from .optimizer import number


class SGD(RuleOptimizer):
    """p -= lr * d, where d is the gradient with weight decay, momentum and Nesterov's variant as asked.

        g += weight_decay * p
        buffer = momentum * buffer + (1 - dampening) * g      the first buffer is g itself, without dampening
        d = g + momentum * buffer if nesterov else buffer     or g, without momentum

    `lr`: a number or a 1-element tensor. `maximize`: climb instead. `differentiable`: record the step in the
    graph. `foreach`: the operators act on lists of all parameters; `fused`: one operator for all of them;
    neither: a for-loop (implementations.py). Parameters without gradient are skipped: no decay, no momentum.
    ValueError for options out of range, RuntimeError for options that exclude each other.
    https://pytorch.org/docs/stable/generated/torch.optim.SGD.html
    """

    name = "SGD"
    later_options = {"nesterov": False, "maximize": False, "foreach": None, "differentiable": False,
                     "fused": False}

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *,
                 maximize=False, foreach=None, differentiable=False, fused=None):
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("learning rate", lr), ("momentum value", momentum),
                            ("weight_decay value", weight_decay)):
            if value < 0:
                raise ValueError(f"Invalid {name}: {value}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused})
        check_fused_options(fused, foreach, differentiable)
        self._step_supports_amp_scaling = bool(fused)

    def _restore(self, state, group):
        """There is no step count to restore."""

    def _update(self, params, group):
        kind = choose(group)
        if kind == "fused":
            check_fused(params)
        if kind == "fused" or self._may_shortcut(params, group):
            self._in_lists(self._fused, params, group)
        elif kind == "foreach":
            self._in_lists(self._foreach, params, group)
        else:
            for p in params:
                buffer = self.state[p].get("momentum_buffer") if group["momentum"] != 0 else None
                buffer = move(FOR_LOOP, p, p.grad, buffer, group)
                self._keep([p], [buffer], group)

    def _update_sparse(self, params, group):
        """Sparse gradients are added where they have entries; lists and fused kernels know none."""
        if choose(group) == "fused":
            raise RuntimeError("`_fused_sgd` does not support sparse gradients")
        for p in params:
            buffer = self.state[p].get("momentum_buffer") if group["momentum"] != 0 else None
            self._keep([p], [move(FOR_LOOP, p, p.grad, buffer, group)], group)

    def _may_shortcut(self, params, group):
        """Tensor options may want gradients, and fused reads gradients of the parameters' dtype."""
        numbers = not isinstance(group["lr"], Tensor) and not isinstance(group["weight_decay"], Tensor)
        return numbers and may_shortcut(group) and all([p._dtype is p.grad._dtype for p in params])

    def _in_lists(self, update, params, group):
        """Call update with lists of parameters of one dtype that all have momentum buffers, or all have none."""
        for positions in by_dtype(params):
            some = [params[i] for i in positions]
            if group["momentum"] == 0:
                update(some, None, group)
                continue
            buffers = [self.state[p].get("momentum_buffer") for p in some]
            new = [p for p, buffer in zip(some, buffers) if buffer is None]
            old = [p for p, buffer in zip(some, buffers) if buffer is not None]
            if new:
                update(new, None, group)
            if old:
                update(old, [buffer for buffer in buffers if buffer is not None], group)

    def _keep(self, params, buffers, group):
        if group["momentum"] != 0:
            for p, buffer in zip(params, buffers):
                self.state[p]["momentum_buffer"] = buffer

    def _foreach(self, params, buffers, group):
        self._keep(params, move(FOREACH, params, [p.grad for p in params], buffers, group), group)

    def _fused(self, params, buffers, group):
        grads, dampening = [p.grad for p in params], group["dampening"]
        if not unscaled(grads, getattr(self, "grad_scale", None), getattr(self, "found_inf", None)):
            return
        if buffers is None and group["momentum"] != 0:
            buffers, dampening = [zeros_like(p) for p in params], 0
        fused_sgd(params, grads, buffers or [], number(group["weight_decay"]), group["momentum"],
                  number(group["lr"]), dampening, group["nesterov"], group["maximize"])
        self._keep(params, buffers, group)


def move(do, p, grad, buffer, group):
    """The rule: one step for a parameter (or a list of them); returns its momentum buffer."""
    grad, momentum = climbing(do, grad, group), group["momentum"]
    if is_used(group["weight_decay"]):
        grad = with_decay(do, grad, p, group["weight_decay"])
    if momentum != 0:
        if buffer is None:
            buffer = do.clone(grad)
        else:
            do.mul_(buffer, momentum)
            do.add_(buffer, grad, alpha=1 - group["dampening"])
        grad = do.add(grad, buffer, alpha=momentum) if group["nesterov"] else buffer
    descend(do, p, grad, group["lr"])
    return buffer


def descend(do, p, direction, lr):
    """p -= lr * direction; a learning rate that requires grad gets one."""
    if isinstance(lr, Tensor) and lr.requires_grad and not do.is_list:
        p.addcmul_(direction, lr.squeeze(), value=-1)
    else:
        do.add_(p, direction, alpha=-number(lr))


def is_used(weight_decay):
    return isinstance(weight_decay, Tensor) or weight_decay != 0


def with_decay(do, grad, p, weight_decay):
    """The gradient plus weight_decay * p; a weight decay that requires grad gets one."""
    if isinstance(weight_decay, Tensor) and weight_decay.requires_grad and not do.is_list:
        return grad.addcmul(p.clone(), weight_decay)
    return do.add(grad, p, alpha=number(weight_decay))
