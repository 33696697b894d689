"""RMSprop: steps divided by the root of a running mean of squared gradients."""
from .implementations import RuleOptimizer, check_option, check_rate, followed, plus, zeros_like
from .optimizer import number


class RMSprop(RuleOptimizer):
    """RMSprop (Hinton's lecture 6; centered: Graves 2013), for each parameter:

        v = alpha * v + (1 - alpha) * g * g                 `square_avg`; g with weight decay's part
        mean = lerp(mean, g, 1 - alpha)                     `grad_avg`, if centered
        scale = sqrt(v - mean * mean) + eps                 or sqrt(v) + eps; TensorFlow's eps is in the root
        p -= lr * g / scale                                 or, with momentum:
        buffer = momentum * buffer + g / scale;  p -= lr * buffer

    ValueError for options out of range. https://pytorch.org/docs/stable/generated/torch.optim.RMSprop.html
    """

    captures_xla = (True, True)
    name = "RMSprop"
    later_options = {"momentum": 0, "centered": False, **RuleOptimizer.later_options}

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False,
                 capturable=False, foreach=None, maximize=False, differentiable=False):
        check_rate(lr)
        for name, value in (("epsilon", eps), ("momentum", momentum), ("weight_decay", weight_decay),
                            ("alpha", alpha)):
            check_option(name, value)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable})

    def _add_state(self, state, p, group):
        state["square_avg"] = zeros_like(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = zeros_like(p)

    def _rule(self, do, p, grad, state, steps, group):
        alpha, lr = group["alpha"], number(group["lr"])
        grad = followed(do, p, grad, group)
        do.mul_(state["square_avg"], alpha)
        do.addcmul_(state["square_avg"], grad, grad, value=1 - alpha)
        scale = plus(do, self._deviation(do, grad, state, group), group["eps"])
        if group["momentum"] > 0:
            do.mul_(state["momentum_buffer"], group["momentum"])
            do.addcdiv_(state["momentum_buffer"], grad, scale)
            do.add_(p, state["momentum_buffer"], alpha=-lr)
        else:
            do.addcdiv_(p, grad, scale, value=-lr)

    @staticmethod
    def _deviation(do, grad, state, group):
        if not group["centered"]:
            return do.sqrt(state["square_avg"])
        mean = state["grad_avg"]
        do.lerp_(mean, grad, 1 - group["alpha"])
        variance = do.addcmul(state["square_avg"], do.kept(mean), do.kept(mean), value=-1)
        do.sqrt_(variance)
        return variance
