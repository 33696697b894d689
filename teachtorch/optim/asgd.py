"""Averaged stochastic gradient descent."""
import numpy as np

from ..tensor import Tensor
from .implementations import (RuleOptimizer, check_option, check_rate, followed, set_number, step_tensor,
                              zeros_like)
from .optimizer import number


class ASGD(RuleOptimizer):
    """Averaged SGD (Polyak and Juditsky 1992), for each parameter and step t:

        p *= 1 - lambd * eta;  p -= eta * g                 g with weight decay's part
        ax += mu * (p - ax)                                 the average; p itself until step t0
        eta = lr / (1 + lambd * lr * t) ** alpha;  mu = 1 / max(1, t - t0)

    ValueError for options out of range. https://pytorch.org/docs/stable/generated/torch.optim.ASGD.html
    """

    name = "ASGD"
    captured = ("params, mus, etas, and state_steps",) * 2

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None,
                 maximize=False, differentiable=False, capturable=False):
        check_rate(lr)
        check_option("weight_decay", weight_decay)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def _add_state(self, state, p, group):
        state["eta"], state["mu"] = step_tensor(group, number(group["lr"])), step_tensor(group, 1.0)
        state["ax"] = zeros_like(p)

    def _restore(self, state, group):
        super()._restore(state, group)
        for name in ("eta", "mu"):
            if state and not isinstance(state[name], Tensor):
                state[name] = step_tensor(group, float(state[name]))

    def _rule(self, do, p, grad, state, steps, group):
        grad = followed(do, p, grad, group)
        etas, mus = do.each(number, state["eta"]), do.each(number, state["mu"])
        do.mul_(p, do.each(lambda eta: 1 - group["lambd"] * eta, etas))
        do.add_(p, grad, alpha=do.each(lambda eta: -eta, etas))
        self._average(do, p, state["ax"], mus)
        rate = foreach_rate if do.is_list else rate_after
        do.each(lambda t, eta, mu: schedule(t, eta, mu, rate, group), steps, state["eta"], state["mu"])

    @staticmethod
    def _average(do, p, average, mus):
        if mus == 1 or (do.is_list and all(mu == 1 for mu in mus)):
            do.copy_(average, p)
        else:
            do.add_(average, do.sub(p, average), alpha=mus)


def schedule(t, eta, mu, rate, group):
    """Set eta and mu for the step after step t."""
    set_number(eta, rate(t, number(group["lr"]), group["lambd"], group["alpha"]))
    set_number(mu, 1 / max(1, t - group["t0"]))


def rate_after(t, lr, lambd, alpha):
    return lr / (1 + lambd * lr * t) ** alpha


def foreach_rate(t, lr, lambd, alpha):
    """The same, rounded as by PyTorch's foreach: it computes with the count as a float32 tensor."""
    base = 1 + lambd * lr * np.float32(t)
    return lr * (1 / np.float32(float(base) ** alpha))
