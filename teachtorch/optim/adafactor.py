"""Adafactor: Adam's second moment, kept as one row and one column of each matrix."""
from ..core import dtype as dt
from ..ops.declare import exports
from ..tensor import Tensor
from .implementations import RuleOptimizer, any_sparse, by_dtype, climbing, zeros_like
from .optimizer import loss_of, number, updating

norm = exports[""]["norm"]


class Adafactor(RuleOptimizer):
    """Adafactor (Shazeer and Stern 2018), for each parameter and step t, with b = t ** beta2_decay:

        rate = max(eps2, rms(p)) * min(lr, 1 / sqrt(t))
        p *= 1 - lr * weight_decay
        row = lerp(row, mean of g * g over the last dimension, b)           `row_var`
        col = lerp(col, mean of g * g over the one before it, b)            `col_var`
        v = row @ col / mean(row)                vectors keep v itself: lerp(v, g * g, b), `variance`
        u = g / sqrt(v)
        p -= rate * u / max(1, rms(u) / d)

    A matrix of n rows and m columns has a state of n + m numbers, where Adam has 2 n m. `eps`: (eps1, eps2);
    an eps1 of None is the machine epsilon of the group's first parameter. It bounds mean(row) and sqrt(v) from
    below, as PyTorch has it, where the paper adds it to g * g. ValueError for options out of range.
    https://pytorch.org/docs/stable/generated/torch.optim.Adafactor.html
    """

    name = "Adafactor"
    later_options = {"foreach": None}

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *,
                 foreach=None, maximize=False):
        check_options(lr, beta2_decay, eps, d, weight_decay)
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize})

    @updating
    def step(self, closure=None):
        """Update every parameter that has a gradient; returns the closure's loss."""
        loss = loss_of(closure)
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            if params:
                self._refuse_scaling()
                if any_sparse(params):
                    self._update_sparse(params, group)
                self._update(params, {**group, "eps1": least(params[0], group)})
        return loss

    def _refuse_scaling(self):
        if any(getattr(self, name, None) is not None for name in ("grad_scale", "found_inf")):
            raise AssertionError("Grad scaling should occur outside of optimizer.step()")

    def _add_state(self, state, p, group):
        if p.grad.dim() > 1:
            state["row_var"] = p.grad.new_zeros((*p.grad.shape[:-1], 1))
            state["col_var"] = p.grad.new_zeros((*p.grad.shape[:-2], 1, p.grad.shape[-1]))
        else:
            state["variance"] = zeros_like(p.grad)

    def _in_groups(self, update, params, states, group):
        """Factored parameters and vectors have different states: one list of each."""
        for positions in by_dtype(params):
            for is_factored in (True, False):
                chosen = [i for i in positions if (params[i].grad.dim() > 1) is is_factored]
                if chosen:
                    update([params[i] for i in chosen], [states[i] for i in chosen], group)

    def _rule(self, do, p, grad, state, steps, group):
        lr, grad = group["lr"], climbing(do, grad, group)
        lr = lr.squeeze() if isinstance(lr, Tensor) else lr      # a tensor's precision is that of the rates
        rates = do.each(lambda p, t: max(group["eps"][1], rms(p)) * min(lr, 1 / t ** 0.5), p, steps)
        if group["weight_decay"] != 0:
            do.mul_(p, number(1 - lr * group["weight_decay"]))
        shares = do.each(lambda t: t ** group["beta2_decay"], steps)
        second_moment = factored if "row_var" in state else whole
        variance = second_moment(do, grad, state, shares, group)
        update = do.each(lambda v: v.clamp_(min=group["eps1"] ** 2).rsqrt_(), variance)
        do.mul_(update, grad)
        factors = do.each(lambda u, rate: number(-rate / max(1.0, rms(u) / group["d"])), update, rates)
        if do.is_list:
            do.mul_(update, factors)
            do.add_(p, update)
        else:
            do.add_(p, update, alpha=factors)


def rms(x):
    """The root of the mean of the squares, as a Python number."""
    return x.norm(2).item() / x.numel() ** 0.5


def least(p, group):
    eps1 = group["eps"][0]
    return dt.finfo(p.dtype).eps if eps1 is None else eps1


def factored(do, grad, state, shares, group):
    """The second moment of a matrix, made anew from its row and column of means."""
    do.lerp_(state["row_var"], do.each(lambda g: mean_square(g, -1), grad), shares)
    do.lerp_(state["col_var"], do.each(lambda g: mean_square(g, -2), grad), shares)
    product = do.each(lambda row, col: row @ col, state["row_var"], state["col_var"])
    means = do.each(lambda row: row.mean(dim=-2, keepdim=True).clamp_(min=group["eps1"]), state["row_var"])
    do.div_(product, means)
    return product


def mean_square(g, dim):
    """(g * g).mean(dim), without a tensor of the size of g in between."""
    return norm(g, dim=dim, keepdim=True).square_().div_(g.size(dim))


def whole(do, grad, state, shares, group):
    """A copy of the second moment of a vector."""
    do.lerp_(state["variance"], do.mul(grad, grad), shares)
    return do.clone(state["variance"])


def check_options(lr, beta2_decay, eps, d, weight_decay):
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not 0.0 <= lr:
        raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
    if not 0.0 >= beta2_decay:
        raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
    if eps[0] is not None and not 0.0 <= eps[0]:
        raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
    if not 0.0 <= eps[1]:
        raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
    if not 1.0 <= d:
        raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
    if not 0.0 <= weight_decay:
        raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
