"""Adagrad: steps divided by the root of the sum of all squared gradients."""
from ..ops.declare import exports
from ..ops.fused_optim import fused_adagrad, unscaled
from ..tensor import entries_of
from .implementations import (FOR_LOOP, RuleOptimizer, advance, check_fused_options, check_option, check_rate, choose,
                              climbing, followed, may_shortcut, plus)
from .optimizer import number

full_like, sparse_coo_tensor = exports[""]["full_like"], exports[""]["sparse_coo_tensor"]


class Adagrad(RuleOptimizer):
    """Adagrad (Duchi, Hazan, Singer 2011), for each parameter and step t:

        sum += g * g                                        g with weight decay's part
        p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(sum) + eps)

    The state is there from the start. `fused`: one operator for all parameters; RuntimeError together with
    `foreach` or `differentiable`. ValueError for options out of range.
    https://pytorch.org/docs/stable/generated/torch.optim.Adagrad.html
    """

    name = "Adagrad"
    later_options = {"foreach": None, "maximize": False, "differentiable": False, "fused": None}

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10,
                 foreach=None, *, maximize=False, differentiable=False, fused=None):
        check_rate(lr)
        for name, value in (("lr_decay", lr_decay), ("weight_decay", weight_decay),
                            ("initial_accumulator_value", initial_accumulator_value), ("epsilon", eps)):
            check_option(name, value)
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused})
        check_fused_options(fused, foreach, differentiable)
        self._step_supports_amp_scaling = bool(fused)
        for group in self.param_groups:
            for p in group["params"]:
                self._new_state(p, group)

    def _add_state(self, state, p, group):
        state["sum"] = full_like(p, self.defaults["initial_accumulator_value"])

    def share_memory(self):
        """Move the sums to shared memory."""
        for state in self.state.values():
            state["sum"].share_memory_()

    def _shortcut(self, params, group, kind):
        return may_shortcut(group)

    def _fused(self, params, states, group):
        grads = [p.grad for p in params]
        if not unscaled(grads, getattr(self, "grad_scale", None), getattr(self, "found_inf", None)):
            return
        fused_adagrad(params, grads, [s["sum"] for s in states], [advance(s["step"]) for s in states],
                      number(group["lr"]), group["lr_decay"], group["weight_decay"], group["eps"],
                      group["maximize"])

    def _update_sparse(self, params, group):
        """Sums and parameters change where a sparse gradient has entries, which were never seen elsewhere either."""
        if choose(group) == "fused":
            raise RuntimeError("`fused` does not support sparse grad or complex param")
        for p in params:
            state = self.state[p] or self._new_state(p, group)
            rule = self._rule if entries_of(p.grad) is None else self._sparse_rule
            rule(FOR_LOOP, p, p.grad, state, advance(state["step"]), group)

    def _sparse_rule(self, do, p, grad, state, step, group):
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        grad = climbing(do, grad, group).coalesce()          # the rule is not linear: each place may occur once
        state["sum"].add_(grad.pow(2))
        scale = state["sum"].sparse_mask(grad)._values().sqrt_().add_(group["eps"])
        rate = number(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        p.add_(sparse_coo_tensor(grad._indices(), grad._values() / scale, grad.shape), alpha=-rate)

    def _rule(self, do, p, grad, state, steps, group):
        grad, lr = followed(do, p, grad, group), number(group["lr"])
        do.addcmul_(state["sum"], grad, grad, value=1)
        scale = plus(do, do.sqrt(state["sum"]), group["eps"])
        rates = do.each(lambda t: -lr / (1 + (t - 1) * group["lr_decay"]), steps)
        if do.is_list:                               # as PyTorch: five operators, where the for-loop has four
            do.addcdiv_(p, do.mul(grad, rates), scale)
        else:
            do.addcdiv_(p, grad, scale, value=rates)
