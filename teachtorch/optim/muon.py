"""Muon: momentum for matrices, made orthogonal before each step."""
import math

from ..ops.declare import exports
from ..tensor import Tensor
from .implementations import zeros_like
from .optimizer import Optimizer, loss_of, number, updating

addmm = exports[""]["addmm"]
COEFFICIENTS = (3.4445, -4.7750, 2.0315)         # of the quintic polynomial, steepest at zero


class Muon(Optimizer):
    """Muon (Jordan 2024, https://kellerjordan.github.io/posts/muon/), for matrices only:

        buffer = lerp(buffer, g, 1 - momentum)                `momentum_buffer`
        d = lerp(g, buffer, momentum) if nesterov else buffer
        o = the orthogonal matrix nearest to d, about         Newton-Schulz, `ns_steps` times, in bfloat16
        p *= 1 - lr * weight_decay
        p -= lr * ratio * o

    `adjust_lr_fn`: the ratio of a matrix with A rows and B columns: "original" (and None) sqrt(max(1, A / B));
    "match_rms_adamw" 0.2 * sqrt(max(A, B)), so that AdamW's learning rates fit. Vectors and embeddings need
    another optimizer. ValueError for options out of range and for parameters that are no matrices.
    https://pytorch.org/docs/stable/generated/torch.optim.Muon.html
    """

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
                 ns_coefficients=COEFFICIENTS, eps=1e-7, ns_steps=5, adjust_lr_fn=None):
        check_options(lr, momentum, weight_decay, adjust_lr_fn)
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn})
        for p in self._all_params():
            if p.ndim != 2:
                raise ValueError("Muon only supports 2D parameters whereas we found a parameter with size: "
                                 f"{p.size()}")

    @updating
    def step(self, closure=None):
        """Update every parameter that has a gradient; returns the closure's loss."""
        loss = loss_of(closure)
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self._move(p, group)
        return loss

    def _move(self, p, group):
        if p.grad.is_sparse:
            raise RuntimeError("Muon does not support sparse gradients")
        if p.grad.ndim != 2:
            raise ValueError("Param gradient must be a 2D matrix")
        state, lr = self.state[p], number(group["lr"])
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = zeros_like(p.grad)
        direction = pushed(p.grad, state["momentum_buffer"], group)
        direction = orthogonal(direction, group["ns_coefficients"], group["ns_steps"], group["eps"])
        p.mul_(1 - lr * group["weight_decay"])
        p.add_(direction, alpha=-lr * ratio(p.shape, group["adjust_lr_fn"]))


def pushed(grad, buffer, group):
    """The momentum, this gradient included."""
    buffer.lerp_(grad, 1 - group["momentum"])
    return grad.lerp(buffer, group["momentum"]) if group["nesterov"] else buffer


def orthogonal(matrix, coefficients, steps, eps):
    """About U @ V.T of the matrix U @ S @ V.T: a polynomial in it that takes every singular value near 1.

    Each step is x = a x + (b s + c s s) x with s = x @ x.T, of the smaller of the two sizes. ValueError for
    100 steps or more, and for other than three coefficients.
    """
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    is_tall = matrix.size(0) > matrix.size(1)
    x = matrix.bfloat16()
    x = x.T if is_tall else x
    x.div_(x.norm().clamp(min=eps))              # now no singular value is above 1
    for _ in range(steps):
        square = x @ x.T
        x = addmm(x, addmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.T if is_tall else x


def ratio(shape, adjust_lr_fn):
    rows, columns = shape
    if adjust_lr_fn == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))


def check_options(lr, momentum, weight_decay, adjust_lr_fn):
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
        if not 0.0 <= value:
            raise ValueError(f"{name} should be >= 0 but is: {value}")
    if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
        raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
