"""Adam and AdamW: steps scaled by running moments of the gradient."""
import math

from ..ops.declare import exports
from ..tensor import Tensor
from .optimizer import Optimizer, loss_of, number, updating

tensor, zeros_like = exports[""]["tensor"], exports[""]["zeros_like"]


class Adam(Optimizer):
    """Adam (Kingma and Ba 2014), parameter by parameter, for step t:

        g += weight_decay * p                       AdamW instead shrinks p by lr * weight_decay
        m = beta1 * m + (1 - beta1) * g             `exp_avg`
        v = beta2 * v + (1 - beta2) * g * g         `exp_avg_sq`
        p -= lr / (1 - beta1 ** t) * m / (sqrt(v) / sqrt(1 - beta2 ** t) + eps)

    `amsgrad`: the largest v so far in the place of v (`max_exp_avg_sq`). `decoupled_weight_decay`: as AdamW.
    `foreach`, `fused` and `capturable` are accepted as in PyTorch and mean the for-loop here. Parameters without
    gradient are skipped, and their step `t` does not count. ValueError for options out of range.
    https://pytorch.org/docs/stable/generated/torch.optim.Adam.html
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        check_options(lr, betas, eps, weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay})
        if fused and differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if fused and foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    @updating
    def step(self, closure=None):
        """Update every parameter that has a gradient; returns the closure's loss."""
        loss = loss_of(closure)
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self._update(p, group)
        return loss

    def _state_of(self, p, group):
        """The parameter's state, made at its first step."""
        state = self.state[p]
        if not state:
            state["step"] = tensor(0.0)
            state["exp_avg"], state["exp_avg_sq"] = zeros_like(p), zeros_like(p)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros_like(p)
        return state

    def _update(self, p, group):
        state, (beta1, beta2) = self._state_of(p, group), group["betas"]
        lr = number(group["lr"])
        state["step"] += 1
        step = state["step"].item()
        grad = self._decayed(p, -p.grad if group["maximize"] else p.grad, lr, group)
        state["exp_avg"].lerp_(grad, 1 - beta1)
        state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denominator = (self._second_moment(state, group).sqrt() / math.sqrt(1 - beta2 ** step)).add_(group["eps"])
        p.addcdiv_(state["exp_avg"], denominator, value=-lr / (1 - beta1 ** step))

    @staticmethod
    def _decayed(p, grad, lr, group):
        """The gradient, with weight decay's part unless that is decoupled, which shrinks p at once."""
        decay = group["weight_decay"]
        if decay == 0:
            return grad
        if group["decoupled_weight_decay"]:
            p.mul_(1 - lr * decay)
            return grad
        return grad.add(p, alpha=decay)

    @staticmethod
    def _second_moment(state, group):
        if not group["amsgrad"]:
            return state["exp_avg_sq"]
        largest = state["max_exp_avg_sq"]
        return largest.copy_(largest.maximum(state["exp_avg_sq"]))


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2017): p *= 1 - lr * weight_decay before each step."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *,
                 maximize=False, foreach=None, capturable=False, differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=True)


def check_options(lr, betas, eps, weight_decay):
    if not 0.0 <= lr:
        raise ValueError(f"Invalid learning rate: {lr}")
    if not 0.0 <= eps:
        raise ValueError(f"Invalid epsilon value: {eps}")
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
    if not 0.0 <= weight_decay:
        raise ValueError(f"Invalid weight_decay value: {weight_decay}")
