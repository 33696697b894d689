"""RAdam: Adam whose first steps are rectified, for the variance of its few samples."""
from .implementations import RuleOptimizer, check_betas, check_option, check_rate, decayed, plus, zeros_like
from .optimizer import number


class RAdam(RuleOptimizer):
    """RAdam (Liu et al. 2019), for each parameter and step t:

        m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g * g
        rho_inf = 2 / (1 - beta2) - 1
        rho = rho_inf - 2 * t * beta2 ** t / (1 - beta2 ** t)
        p -= lr * m / (1 - beta1 ** t) * scale              if rho > 5, else without scale
        scale = rectification(rho) * sqrt(1 - beta2 ** t) / (sqrt(v) + eps)

    `decoupled_weight_decay`: as AdamW. ValueError for options out of range.
    https://pytorch.org/docs/stable/generated/torch.optim.RAdam.html
    """

    name = "RAdam"
    later_options = {**RuleOptimizer.later_options, "decoupled_weight_decay": False}

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0,
                 decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):
        check_rate(lr)
        check_option("epsilon", eps)
        check_betas(betas)
        check_option("weight_decay", weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable})

    def _add_state(self, state, p, group):
        state["exp_avg"], state["exp_avg_sq"] = zeros_like(p), zeros_like(p)

    def _rule(self, do, p, grad, state, steps, group):
        (beta1, beta2), mean = group["betas"], state["exp_avg"]
        grad = decayed(do, p, grad, group)
        do.lerp_(mean, grad, 1 - beta1)
        do.mul_(state["exp_avg_sq"], beta2)
        do.addcmul_(state["exp_avg_sq"], grad, grad, value=1 - beta2)
        if do.is_list:
            self._move_all(do, p, mean, state, steps, group)
        else:
            self._move_one(do, p, do.kept(mean), state, steps, group)

    @staticmethod
    def _move_one(do, p, mean, state, t, group):
        adaptive, plain = rates(t, group)
        if plain:
            do.add_(p, mean, alpha=-plain)
        else:
            do.addcdiv_(p, mean, plus(do, do.sqrt(state["exp_avg_sq"]), group["eps"]), value=-adaptive)

    @staticmethod
    def _move_all(do, p, mean, state, steps, group):
        """The same for a list, in which some parameters may be at steps without rectification, others not."""
        rate = do.sqrt(state["exp_avg_sq"])
        do.add_(rate, group["eps"])
        do.reciprocal_(rate)
        do.mul_(rate, [-rates(t, group)[0] for t in steps])
        do.add_(rate, [-rates(t, group)[1] for t in steps])
        do.addcmul_(p, mean, rate)


def rates(t, group):
    """(what divides by sqrt(v) + eps, what is taken as it is): step sizes for m, one of them 0."""
    (beta1, beta2), lr = group["betas"], number(group["lr"])
    corrected = lr / (1 - beta1 ** t)
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * t * beta2 ** t / (1 - beta2 ** t)
    if length <= 5:
        return 0.0, corrected
    rectification = ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5
    return corrected * rectification * (1 - beta2 ** t) ** 0.5, 0.0
