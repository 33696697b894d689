"""Adam for sparse gradients: rows without a gradient are not touched."""
import math

from ..ops.declare import exports
from ..tensor import Tensor
from .optimizer import Optimizer, loss_of, number, updating

sparse_coo_tensor, zeros_like = exports[""]["sparse_coo_tensor"], exports[""]["zeros_like"]


class SparseAdam(Optimizer):
    """Adam where the gradient has entries; moments and parameters elsewhere stay as they are, momentum included.

    For dense parameters with sparse gradients, such as the table of nn.Embedding(sparse=True): a step costs as much as
    the entries, not as the table. `maximize`: climb instead. ValueError for options out of range and for sparse
    parameters. https://pytorch.org/docs/stable/generated/torch.optim.SparseAdam.html
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("learning rate", lr), ("epsilon value", eps)):
            if not 0.0 < value:
                raise ValueError(f"Invalid {name}: {value}")
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        places = [[g, i] for g, group in enumerate(self.param_groups) for i, p in enumerate(group["params"])
                  if p.is_sparse]
        if places:
            raise ValueError(f"Sparse params at indices {places}: SparseAdam requires dense parameter tensors")

    @updating
    def step(self, closure=None):
        """Update every parameter that has a gradient; returns the closure's loss."""
        loss = loss_of(closure)
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            for p in params:
                if not p.grad.is_sparse:
                    raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
            for p in params:
                self._move(p, self.state[p] or self._new_state(p), group)
        return loss

    def _new_state(self, p):
        state = self.state[p]
        state["step"], state["exp_avg"], state["exp_avg_sq"] = 0, zeros_like(p), zeros_like(p)
        return state

    def _move(self, p, state, group):
        """One step of Adam, on the values at the gradient's places."""
        state["step"] += 1
        grad = (-p.grad if group["maximize"] else p.grad).coalesce()      # Adam is not linear: each place once
        g, (beta1, beta2), step = grad._values(), group["betas"], state["step"]
        if not g.numel():
            return

        def at_places(values):
            return sparse_coo_tensor(grad._indices(), values, grad.shape)

        mean, square = state["exp_avg"].sparse_mask(grad)._values(), state["exp_avg_sq"].sparse_mask(grad)._values()
        mean_step, square_step = (g - mean).mul_(1 - beta1), (g.pow(2) - square).mul_(1 - beta2)
        state["exp_avg"].add_(at_places(mean_step))
        state["exp_avg_sq"].add_(at_places(square_step))
        size = number(group["lr"]) * math.sqrt(1 - beta2 ** step) / (1 - beta1 ** step)
        scale = (square_step + square).sqrt_().add_(group["eps"])
        p.add_(at_places((mean_step + mean).div_(scale).mul_(-size)))
