"""Adadelta: steps in the units of the parameters, without a learning rate to tune."""
from .implementations import RuleOptimizer, check_option, check_rate, followed, zeros_like
from .optimizer import number


class Adadelta(RuleOptimizer):
    """Adadelta (Zeiler 2012), for each parameter:

        v = rho * v + (1 - rho) * g * g                     `square_avg`; g with weight decay's part
        delta = sqrt(u + eps) / sqrt(v + eps) * g           eps under the roots
        u = rho * u + (1 - rho) * delta * delta             `acc_delta`
        p -= lr * delta

    ValueError for options out of range. https://pytorch.org/docs/stable/generated/torch.optim.Adadelta.html
    """

    captures_xla = (False, False)

    name = "Adadelta"

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False,
                 maximize=False, differentiable=False):
        check_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_option("epsilon", eps)
        check_option("weight_decay", weight_decay)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable})

    def _add_state(self, state, p, group):
        state["square_avg"], state["acc_delta"] = zeros_like(p), zeros_like(p)

    def _rule(self, do, p, grad, state, steps, group):
        rho, eps, lr = group["rho"], group["eps"], number(group["lr"])
        grad = followed(do, p, grad, group)
        do.mul_(state["square_avg"], rho)
        do.addcmul_(state["square_avg"], grad, grad, value=1 - rho)
        deviation, delta = do.add(state["square_avg"], eps), do.add(state["acc_delta"], eps)
        do.sqrt_(deviation)
        do.sqrt_(delta)
        delta = do.kept(delta)
        do.div_(delta, deviation)
        delta = do.kept(delta)
        do.mul_(delta, grad)
        do.mul_(state["acc_delta"], rho)
        do.addcmul_(state["acc_delta"], delta, delta, value=1 - rho)
        do.add_(p, delta, alpha=-lr)
