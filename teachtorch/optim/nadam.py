"""NAdam: Adam with Nesterov momentum."""
from ..autograd.tensor_fields import bump_version
from ..dispatch.keys import PYTHON
from ..tensor import Tensor, array_of
from .implementations import (RuleOptimizer, check_betas, check_option, check_rate, decayed, number_of, plus,
                              step_tensor, zeros_like)
from .optimizer import number


class NAdam(RuleOptimizer):
    """NAdam (Dozat 2016), for each parameter and step t:

        mu(t) = beta1 * (1 - 0.5 * 0.96 ** (t * momentum_decay))
        m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g * g
        scale = sqrt(v / (1 - beta2 ** t)) + eps
        p -= lr * ((1 - mu(t)) / (1 - prod) * g + mu(t + 1) / (1 - prod * mu(t + 1)) * m) / scale

    `mu_product`: prod, the product of mu(1) to mu(t). `decoupled_weight_decay`: as AdamW. ValueError for
    options out of range. https://pytorch.org/docs/stable/generated/torch.optim.NAdam.html
    """

    name = "NAdam"
    later_options = {**RuleOptimizer.later_options, "decoupled_weight_decay": False}
    captured = ("params, mu_products and state_steps", "params, mu_products, and state_steps")

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False):
        check_rate(lr)
        check_option("epsilon", eps)
        check_betas(betas)
        check_option("weight_decay", weight_decay)
        check_option("momentum_decay", momentum_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable})

    def _add_state(self, state, p, group):
        state["mu_product"] = step_tensor(group, 1.0)
        state["exp_avg"], state["exp_avg_sq"] = zeros_like(p), zeros_like(p)

    def _restore(self, state, group):
        super()._restore(state, group)
        if state and not isinstance(state["mu_product"], Tensor):
            state["mu_product"] = step_tensor(group, float(state["mu_product"]))

    def _rule(self, do, p, grad, state, steps, group):
        beta1, beta2 = group["betas"]
        grad = decayed(do, p, grad, group)
        do.lerp_(state["exp_avg"], grad, 1 - beta1)
        do.mul_(state["exp_avg_sq"], beta2)
        do.addcmul_(state["exp_avg_sq"], grad, grad, value=1 - beta2)
        scale = plus(do, do.sqrt(do.div(state["exp_avg_sq"], do.each(lambda t: 1 - beta2 ** t, steps))),
                     group["eps"])
        of_grad, of_mean = self._step_sizes(do, state, steps, group)
        do.addcdiv_(p, grad, scale, value=of_grad)
        do.addcdiv_(p, do.kept(state["exp_avg"]), scale, value=of_mean)

    @staticmethod
    def _step_sizes(do, state, steps, group):
        """What multiplies the gradient and the mean, negated; the product of the mus goes one step on."""
        lr, beta1, decay = number(group["lr"]), group["betas"][0], group["momentum_decay"]

        def mu(t):
            return beta1 * (1 - 0.5 * 0.96 ** (t * decay))
        products = do.each(lambda t, product: multiply(product, mu(t)), steps, state["mu_product"])
        of_grad = do.each(lambda t, product: -lr * (1 - mu(t)) / (1 - product), steps, products)
        of_mean = do.each(lambda t, product: -lr * mu(t + 1) / (1 - product * mu(t + 1)), steps, products)
        return of_grad, of_mean


def multiply(product, factor):
    """Multiply a 0-dim tensor, which stays with the host, and return it as a number."""
    if product._keys & PYTHON:
        return number_of(product.mul_(factor), 0.5)
    array = array_of(product)
    array *= factor
    bump_version(product)
    return array.item()
