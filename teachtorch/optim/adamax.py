"""Adamax: Adam with the infinity norm."""
from .implementations import RuleOptimizer, check_betas, check_option, check_rate, followed, plus, zeros_like
from .optimizer import number


class Adamax(RuleOptimizer):
    """Adamax (Kingma and Ba 2014, section 7), for each parameter and step t:

        m = beta1 * m + (1 - beta1) * g                     `exp_avg`; g with weight decay's part
        u = max(beta2 * u, |g| + eps)                       `exp_inf`
        p -= lr / (1 - beta1 ** t) * m / u

    ValueError for options out of range. https://pytorch.org/docs/stable/generated/torch.optim.Adamax.html
    """

    name = "Adamax"

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *,
                 maximize=False, differentiable=False, capturable=False):
        check_rate(lr)
        check_option("epsilon", eps)
        check_betas(betas)
        check_option("weight_decay", weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def _add_state(self, state, p, group):
        state["exp_avg"], state["exp_inf"] = zeros_like(p), zeros_like(p)

    def _rule(self, do, p, grad, state, steps, group):
        (beta1, beta2), lr = group["betas"], number(group["lr"])
        grad = followed(do, p, grad, group)
        do.lerp_(state["exp_avg"], grad, 1 - beta1)
        do.mul_(state["exp_inf"], beta2)
        do.maximum_(state["exp_inf"], plus(do, do.abs(grad), group["eps"]))
        step_sizes = do.each(lambda t: -lr / (1 - beta1 ** t), steps)
        do.addcdiv_(p, do.kept(state["exp_avg"]), do.kept(state["exp_inf"]), value=step_sizes)
