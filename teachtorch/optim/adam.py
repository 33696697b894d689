"""Adam and AdamW: steps scaled by running moments of the gradient."""
from ..autograd.tensor_fields import bump_version
from ..ops.fused_optim import ADAM, ADAMW, fused_adam, unscaled
from ..tensor import Tensor
from .implementations import (RuleOptimizer, advance, check_betas, check_fused_options, check_option,
                              check_rate, decayed, may_shortcut, over, plus, zeros_like)
from .optimizer import number


class Adam(RuleOptimizer):
    """Adam (Kingma and Ba 2014), parameter by parameter, for step t:

        g += weight_decay * p                       AdamW instead shrinks p by lr * weight_decay
        m = beta1 * m + (1 - beta1) * g             `exp_avg`
        v = beta2 * v + (1 - beta2) * g * g         `exp_avg_sq`
        p -= lr / (1 - beta1 ** t) * m / (sqrt(v) / sqrt(1 - beta2 ** t) + eps)

    `amsgrad`: the largest v so far in the place of v (`max_exp_avg_sq`). `decoupled_weight_decay`: as AdamW.
    `foreach`: the operators act on lists of all parameters; `fused`: one operator for all of them; neither: a
    for-loop (implementations.py). `differentiable`: record the step in the graph. Parameters without gradient
    are skipped, and their step `t` does not count. ValueError for options out of range, RuntimeError for
    options that exclude each other. https://pytorch.org/docs/stable/generated/torch.optim.Adam.html
    """

    name = "Adam"
    later_options = {"amsgrad": False, **RuleOptimizer.later_options, "decoupled_weight_decay": False,
                     "fused": None}

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False, fused=None,
                 decoupled_weight_decay=False):
        refuse_tensor("lr", lr, foreach and not capturable)
        check_rate(lr)
        check_option("epsilon", eps)
        check_betas(betas)
        check_option("weight_decay", weight_decay)
        check_kinds(betas, foreach and not capturable)
        super().__init__(params, {
            "lr": lr, "betas": tuple([b.squeeze() if isinstance(b, Tensor) else b for b in betas]),
            "eps": eps,
            "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay})
        check_fused_options(fused, foreach, differentiable)
        self._step_supports_amp_scaling = bool(fused)

    def _add_state(self, state, p, group):
        state["exp_avg"], state["exp_avg_sq"] = zeros_like(p), zeros_like(p)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(p)

    # ---- fused ---------------------------------------------------------------------------------------------

    def _shortcut(self, params, group, kind):
        """The versions of parameters count as in the for-loop, which shrinks them in an operator of its own."""
        if not may_shortcut(group):
            return False
        if group["decoupled_weight_decay"] and group["weight_decay"] != 0:
            for p in params:
                bump_version(p)
        return True

    def _fused(self, params, states, group):
        grads = [p.grad for p in params]
        if not unscaled(grads, getattr(self, "grad_scale", None), getattr(self, "found_inf", None)):
            return
        names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")[:3 if group["amsgrad"] else 2]
        moments, steps = [[s[name] for s in states] for name in names], [advance(s["step"]) for s in states]
        beta1, beta2 = map(number, group["betas"])
        fused_adam(ADAMW if group["decoupled_weight_decay"] else ADAM, params, grads, moments, steps,
                   number(group["lr"]), beta1, beta2, group["weight_decay"], group["eps"], group["maximize"])

    # ---- for-loop and foreach ------------------------------------------------------------------------------

    def _refuse_foreach(self, group):
        if isinstance(group["lr"], Tensor):
            raise RuntimeError("lr as a Tensor is not supported for capturable=False and foreach=True")
        super()._refuse_foreach(group)

    def _rule(self, do, p, grad, state, steps, group):
        if do.is_recorded:
            return recorded_rule(p, grad, state, steps, group)
        (beta1, beta2), lr = map(number, group["betas"]), number(group["lr"])
        grad = decayed(do, p, grad, group)
        do.lerp_(state["exp_avg"], grad, 1 - beta1)
        do.mul_(state["exp_avg_sq"], beta2)
        do.addcmul_(state["exp_avg_sq"], grad, grad, value=1 - beta2)
        scale = do.sqrt(self._second_moment(do, state, group))
        scale = over(do, scale, do.each(lambda t: (1 - beta2 ** t) ** 0.5, steps))
        scale = plus(do, scale, group["eps"])
        do.addcdiv_(p, state["exp_avg"], scale, value=do.each(lambda t: -lr / (1 - beta1 ** t), steps))

    @staticmethod
    def _second_moment(do, state, group):
        if not group["amsgrad"]:
            return state["exp_avg_sq"]
        do.maximum_(state["max_exp_avg_sq"], state["exp_avg_sq"])
        return state["max_exp_avg_sq"]


def recorded_rule(p, grad, state, t, group):
    """The update for `differentiable`: learning rate, betas and weight decay may be tensors that require grad."""
    (beta1, beta2), lr, decay = group["betas"], group["lr"], group["weight_decay"]
    grad = -grad if group["maximize"] else grad
    if group["decoupled_weight_decay"]:
        p.mul_(1 - lr * decay)
    elif isinstance(decay, Tensor) or decay != 0:
        grad = grad + p.clone() * decay
    state["exp_avg"].lerp_(grad, 1 - beta1)
    state["exp_avg_sq"].lerp_(grad * grad, 1 - beta2)
    second = state["exp_avg_sq"]
    if group["amsgrad"]:
        second = state["max_exp_avg_sq"]
        second.copy_(second.clone().maximum(state["exp_avg_sq"]))
    scale = second.clone().sqrt() / (1 - beta2 ** t) ** 0.5 + group["eps"]
    p.sub_(lr / (1 - beta1 ** t) * state["exp_avg"].clone() / scale)


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2017): p *= 1 - lr * weight_decay before each step."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *,
                 maximize=False, foreach=None, capturable=False, differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused,
                         decoupled_weight_decay=True)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


def refuse_tensor(name, value, is_refused):
    if isinstance(value, Tensor) and is_refused:
        raise ValueError(f"{name} as a Tensor is not supported for capturable=False and foreach=True")


def check_kinds(betas, refuses_tensors):
    """ValueError unless both betas are floats or both are 1-element tensors."""
    kinds = [Tensor if isinstance(beta, Tensor) else type(beta) for beta in betas]
    if kinds not in ([float, float], [Tensor, Tensor]):
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas):
        refuse_tensor(f"betas[{i}]", beta, refuses_tensors)
        if isinstance(beta, Tensor) and beta.numel() != 1:
            raise ValueError(f"Tensor betas[{i}] must be 1-element")
