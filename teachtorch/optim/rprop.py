"""Rprop: steps that depend on the signs of the gradient alone."""
from ..ops.declare import exports
from .implementations import RuleOptimizer, check_rate, climbing, zeros_like
from .optimizer import number

full_like, where = exports[""]["full_like"], exports[""]["where"]


class Rprop(RuleOptimizer):
    """Resilient backpropagation (Riedmiller and Braun 1993), for each element of each parameter:

        sign = sign(g * prev)
        step_size *= etas[1] if sign > 0, etas[0] if sign < 0; clamped to step_sizes
        g = 0 if sign < 0                                   after a change of sign wait one step
        p -= sign(g) * step_size;  prev = g

    ValueError for options out of range. https://pytorch.org/docs/stable/generated/torch.optim.Rprop.html
    """

    captures_xla = (True, True)

    name = "Rprop"

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False,
                 foreach=None, maximize=False, differentiable=False):
        check_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable})

    def _add_state(self, state, p, group):
        state["prev"], state["step_size"] = zeros_like(p), full_like(p.grad, number(group["lr"]))

    def _rule(self, do, p, grad, state, steps, group):
        grad = climbing(do, grad, group)
        signs = do.each(sign_of_product, grad, state["prev"])
        do.mul_(state["step_size"], do.each(lambda sign: factors(sign, group["etas"]), signs))
        do.each(lambda size: size.clamp_(*group["step_sizes"]), state["step_size"])
        grad = do.each(lambda g, sign: where(sign < 0, 0, g), grad, signs)
        do.addcmul_(p, do.each(lambda g: g.sign(), grad), do.kept(state["step_size"]), value=-1)
        do.copy_(state["prev"], grad)


def sign_of_product(grad, before):
    return grad.mul(before.clone()).sign()


def factors(sign, etas):
    """What the step sizes are multiplied with; in the dtype of `sign`."""
    return where(sign > 0, etas[1], where(sign < 0, etas[0], sign * 0 + 1))
