"""Losses that rank, separate or embed, and those of counts and of Gaussians."""

import math


from ..autograd.grad_mode import no_grad
from .arguments import require_bool, require_float
from .declare import exports, publish
from .loss import cross_entropy, reduction_of
from .loss_ctc import numbered
from .loss_pointwise import binary_cross_entropy_with_logits, kl_div, reduced_tensor

F = exports["nn.functional"]
where, ones_like, zeros_like = (exports[""][name] for name in ("where", "ones_like", "zeros_like"))
pairwise_distance = F["pairwise_distance"]
COSINE_EPS = 1e-12


def require_reduction(reduction, text=" is not valid"):
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + text)


# ---- composed ----------------------------------------------------------------------------------------------


def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction="mean"
):
    """Minus the log likelihood of counts `target`, whose rate is exp(input), or input itself unless `log_input`.

    `full`: with Stirling's approximation of log(target!) where target > 1. `eps`: added within log(input).
    """
    reduction = reduction_of(reduction, size_average, reduce)
    require_bool(log_input, "poisson_nll_loss", "log_input", 3)
    require_bool(full, "poisson_nll_loss", "full", 4)
    require_float(eps, "poisson_nll_loss", "eps", 5)
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return reduced_tensor(losses, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """Minus the log likelihood of `target` under Gaussians with means `input` and variances `var`.

    `var`: a number, of input's shape, with a last dimension of size 1, or without the last dimension.
    `eps`: the least variance. `full`: with the constant log(2 pi) / 2. ValueError for negative variances.
    """
    if var < 0 if isinstance(var, float) else (var < 0).any():
        raise ValueError("var has negative entry/entries")
    var = matched_variance(var * ones_like(input) if isinstance(var, float) else var, input)
    require_reduction(reduction)
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    losses = 0.5 * (var.log() + (input - target) ** 2 / var)
    return reduced_tensor(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


def matched_variance(var, input):
    """The variances so that they broadcast to the input."""
    if var.size() == input.size():
        return var
    if input.size()[:-1] == var.size():
        return var.unsqueeze(-1)
    if input.dim() == var.dim() and sum(v for i, v in zip(input.size(), var.size()) if i != v) == 1:
        return var
    raise ValueError("var is of incorrect size")


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """max(0, -target (input1 - input2) + margin), reduced: a target of 1 wants input1 larger, -1 input2."""
    reduction = reduction_of(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    require_float(margin, "margin_ranking_loss", "margin", 4)
    return reduced_tensor((-target * (input1 - input2) + float(margin)).clamp_min(0), reduction)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """The distance `input` where the target is 1, max(0, margin - input) where it is -1, reduced."""
    reduction = reduction_of(reduction, size_average, reduce)
    require_float(margin, "hinge_embedding_loss", "margin", 3)
    zeros = zeros_like(input)
    apart = where(target != 1, (margin - input).clamp_min(0), zeros)
    return reduced_tensor(apart + where(target != -1, input, zeros), reduction)


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 - cos(input1, input2) where the target is 1, max(0, cos - margin) where it is -1, reduced.

    `input1`, `input2`: (batch, features) with a target (batch,), or (features,) with one of no dimensions.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    require_float(margin, "cosine_embedding_loss", "margin", 4)
    if target.dim() not in (0, 1):
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.dim() != target.dim() + 1 or input2.dim() != target.dim() + 1:
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs "
            f"with sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    products, first, second = ((a * b).sum(-1) for a, b in ((input1, input2), (input1, input1), (input2, input2)))
    cosine = products / ((first + COSINE_EPS) * (second + COSINE_EPS)).sqrt()
    zeros = zeros_like(cosine)
    alike = where(target == 1, 1 - cosine, zeros)
    return reduced_tensor(alike + where(target == -1, (cosine - margin).clamp_min(0), zeros), reduction)


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"
):
    """max(0, distance(anchor, positive) - distance(anchor, negative) + margin), reduced; distances by the p-norm.

    `swap`: uses the positive's distance to the negative where that is smaller (Balntas et al. 2016).
    """
    reduction = reduction_of(reduction, size_average, reduce)
    require_bool(swap, "triplet_margin_loss", "swap", 7)
    check_margin(margin)
    check_triplet(anchor, positive, negative)
    return triplet_of(anchor, positive, negative, lambda a, b: pairwise_distance(a, b, p, eps), margin, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """triplet_margin_loss with a distance of one's own, a function of two tensors; pairwise_distance if left out."""
    require_reduction(reduction, " is not a valid value for reduction")
    check_margin(margin)
    check_triplet(anchor, positive, negative)
    return triplet_of(anchor, positive, negative, distance_function or pairwise_distance, margin, swap, reduction)


def check_margin(margin):
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


def check_triplet(anchor, positive, negative):
    dims = anchor.dim(), positive.dim(), negative.dim()
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {dims[0]}D, positive {dims[1]}D, and negative {dims[2]}D inputs"
        )


def triplet_of(anchor, positive, negative, distance, margin, swap, reduction):
    near, far = distance(anchor, positive), distance(anchor, negative)
    far = far.minimum(distance(positive, negative)) if swap else far
    return reduced_tensor((margin + near - far).clamp_min(0), reduction)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over classes of the binary cross entropy of sigmoid(input), (batch, classes), with targets 0 and 1.

    `weight`: of each class.
    """
    if size_average is not None or reduce is not None:
        reduction = reduction_of(reduction, size_average, reduce)
    losses = -(target * F["logsigmoid"](input) + (1 - target) * F["logsigmoid"](-input))
    losses = losses if weight is None else losses * weight
    losses = losses.sum(-1) / input.size(-1)
    require_reduction(reduction)
    return reduced_tensor(losses, reduction)


def linear_cross_entropy(
    input,
    linear_weight,
    target,
    *,
    linear_bias=None,
    weight=None,
    reduction="mean",
    ignore_index=None,
    label_smoothing=0.0,
    options=None,
):
    """The cross entropy of linear(input, linear_weight, linear_bias); `input` (batch, features) or
    (features,), `linear_weight` (classes, ..., features). `options`, which ask for parts at a time, are not
    looked at."""
    check_linear_cross_entropy(input, linear_weight, linear_bias)
    shape = (*input.shape[:-1], *linear_weight.shape[:-1])
    if target.shape == shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    flat = linear_weight.reshape(-1, linear_weight.size(-1))
    logits = F["linear"](input, flat, None if linear_bias is None else linear_bias.reshape(-1)).reshape(shape)
    return cross_entropy(
        logits,
        target,
        weight=weight,
        reduction=reduction,
        label_smoothing=label_smoothing,
        ignore_index=-100 if ignore_index is None else ignore_index,
    )


def check_linear_cross_entropy(input, linear_weight, linear_bias):
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    if input.size(-1) != linear_weight.size(-1):
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.size(-1)} and {linear_weight.size(-1)}, respectively"
        )
    outputs = tuple(linear_weight.shape[:-1])
    if linear_bias is not None and tuple(linear_bias.shape) != outputs:
        raise RuntimeError(f"expected linear_bias shape {outputs}, got {tuple(linear_bias.shape)}")
    if len(outputs) > 1 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires "
            f"batched input, (N, {input.size(-1)}), got unbatched input with shape {tuple(input.shape)}"
        )


for _function in (
    poisson_nll_loss, gaussian_nll_loss, margin_ranking_loss, hinge_embedding_loss, cosine_embedding_loss,
    triplet_margin_loss, triplet_margin_with_distance_loss, multilabel_soft_margin_loss, linear_cross_entropy,
):
    publish(_function.__name__, _function, ("nn.functional",))


# ---- torch's own forms, with numbered reductions -----------------------------------------------------------


def torch_poisson_nll_loss(input, target, log_input, full, eps, reduction):
    return poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=reduction)


def torch_hinge_embedding_loss(input, target, margin=1.0, reduction="mean"):
    return hinge_embedding_loss(input, target, margin, reduction=reduction)


def torch_margin_ranking_loss(input1, input2, target, margin=0.0, reduction="mean"):
    return margin_ranking_loss(input1, input2, target, margin, reduction=reduction)


def torch_cosine_embedding_loss(input1, input2, target, margin=0.0, reduction="mean"):
    return cosine_embedding_loss(input1, input2, target, margin, reduction=reduction)


def torch_triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, reduction="mean"):
    return triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=reduction)


def torch_kl_div(input, target, reduction="mean", *, log_target=False):
    if reduction == "mean":  # without the warning of nn.functional's
        return kl_div(input, target, reduction="none", log_target=log_target).mean()
    return kl_div(input, target, reduction=reduction, log_target=log_target)


def torch_binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction="mean"):
    return binary_cross_entropy_with_logits(input, target, weight, pos_weight=pos_weight, reduction=reduction)


for _function, _position in (
    (torch_poisson_nll_loss, 5),
    (torch_hinge_embedding_loss, 3),
    (torch_margin_ranking_loss, 4),
    (torch_cosine_embedding_loss, 4),
    (torch_triplet_margin_loss, 7),
    (torch_kl_div, 2),
    (torch_binary_cross_entropy_with_logits, 4),
):
    _function.__name__ = _function.__qualname__ = _function.__name__.removeprefix("torch_")
    publish(_function.__name__, numbered(_function, _position), ("",))
