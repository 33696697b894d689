"""Losses that rank, separate or embed, and those of counts and of Gaussians."""

import math
import warnings

import numpy as np

from ..autograd.grad_mode import no_grad
from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..kernels.pointwise import silently
from ..tensor import Tensor
from .arguments import require_bool, require_float, require_kind
from .declare import exports, operator, publish
from .fake import Fake
from .loss import cross_entropy, reduction_of
from .loss_ctc import numbered
from .loss_pointwise import binary_cross_entropy_with_logits, kl_div, reduced, reduced_tensor, share
from .reduction_arrays import widened

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
    """Minus the log likelihood of counts `target`, whose rate is exp(input), or input itself unless
    `log_input`.

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
    """max(0, distance(anchor, positive) - distance(anchor, negative) + margin), reduced; distances by the
    p-norm.

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
    """The mean over classes of the binary cross entropy of sigmoid(input), (batch, classes), with targets 0
    and 1.

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


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A sample of the softmax relaxation of choosing a class, from its unnormalised log probabilities.

    `tau`: the temperature. `hard`: a one-hot choice, with the gradient of the soft one (Jang et al. 2016).
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -logits.detach().new_empty(logits.shape).exponential_().log()
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return zeros_like(logits).scatter_(dim, index, 1.0) - soft.detach() + soft


# ---- soft margin -------------------------------------------------------------------------------------------


def soft_margin_slope(self, target):
    """d log(1 + exp(-target self)) / d self."""
    return -target * (-target * self).sigmoid()


def soft_margin_tangent(self_t, self, target, reduction):
    return reduced_tensor(soft_margin_slope(self, target) * self_t, reduction)


def fake_soft_margin(self, target, reduction):
    if self._dtype.category != dt.FLOATING:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {scalar_type_name(self._dtype)}"
        )
    shape = geometry.broadcast_shapes(self._shape, target._shape)
    return Fake(shape if reduction == "none" else (), self._dtype)


@operator(
    "soft_margin_loss",
    out=False,
    spaces=(),
    fake=fake_soft_margin,
    jvp=soft_margin_tangent,
    vjp={"self": lambda grad, self, target, reduction: share(grad, self, reduction) * soft_margin_slope(self, target)},
)
def soft_margin_operator(self, target, reduction):
    """log(1 + exp(-target self))."""
    if self.dtype.kind in "biu":
        raise TypeError("the loss needs floats")
    signs = -(target.astype(self.dtype) if target.dtype.kind == "b" else target)
    losses = silently(lambda: np.log1p(np.exp(signs * widened(self))))
    return reduced(losses, reduction, self.dtype)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target input)) for targets 1 and -1, reduced."""
    return soft_margin_operator(input, target, reduction_of(reduction, size_average, reduce))


# ---- margins between classes -------------------------------------------------------------------------------


def check_rows(shape):
    """Rows of classes: (classes,), (batch, classes) or one number."""
    if len(shape) > 2 or len(shape) == 2 and shape[1] == 0 or shape == (0,):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}"
        )


def as_rows(shape):
    """(batch, classes)."""
    return shape if len(shape) == 2 else (1, shape[0] if shape else 1)


def fake_multi_margin(self, target, p, margin, weight, reduction):
    check_multi_margin(self._shape, target._shape, None if weight is None else weight._shape)
    if self._dtype not in (dt.float32, dt.float64):
        raise NotImplementedError(
            f"\"multi_margin_loss_cpu_kernel\" not implemented for '{scalar_type_name(self._dtype)}'"
        )
    if target._dtype is not dt.int64:
        raise RuntimeError(f"expected scalar type Long but found {scalar_type_name(target._dtype)}")
    is_matrix = len(self._shape) == 2 or target._shape == (1,)
    return Fake((as_rows(self._shape)[0],) if is_matrix and reduction == "none" else (), self._dtype)


def check_multi_margin(shape, target_shape, weight_shape):
    check_rows(shape)
    batch, classes = as_rows(shape)
    if len(target_shape) > 1 or math.prod(target_shape) != batch:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{batch}], but got {list(target_shape)}. Input "
            f"has shape {list(shape)}."
        )
    if weight_shape is not None and math.prod(weight_shape) != classes:
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight_shape)}")


def multi_margin_slopes(self, target, p, margin, weight):
    """(batch, classes): the derivative of each row's loss."""
    x = self.reshape(as_rows(self._shape))
    chosen = target.reshape(-1, 1)
    excess = (margin - x.gather(1, chosen) + x).clamp_min(0)
    slopes = (excess > 0).to(x._dtype) if p == 1 else 2 * excess
    slopes = slopes.scatter(1, chosen, 0.0) / x._shape[1]
    slopes = slopes if weight is None else slopes * weight.take(chosen)
    return slopes.scatter(1, chosen, -slopes.sum(1, True))


def spread(grad, reduction, batch):
    """The gradient of each row's loss, (batch, 1)."""
    return (grad / batch if reduction == "mean" else grad).reshape(-1, 1)


def multi_margin_gradient(grad, self, target, p, margin, weight, reduction):
    slopes = multi_margin_slopes(self, target, p, margin, weight)
    return (spread(grad, reduction, slopes._shape[0]) * slopes).reshape(self._shape)


def multi_margin_tangent(self_t, self, target, p, margin, weight, reduction):
    slopes = multi_margin_slopes(self, target, p, margin, weight)
    return row_tangent(slopes, self_t, reduction, len(self._shape) == 2 or target._shape == (1,))


def row_tangent(slopes, self_t, reduction, is_matrix):
    rows = (slopes * self_t.reshape(slopes._shape)).sum(1)
    return reduced_tensor(rows if is_matrix else rows.reshape(()), reduction)


@operator(
    "multi_margin_loss",
    out=False,
    spaces=(),
    fake=fake_multi_margin,
    jvp=multi_margin_tangent,
    vjp={"self": multi_margin_gradient},
)
def multi_margin_operator(self, target, p, margin, weight, reduction):
    """The mean over classes of max(0, margin - self[target] + self)^p, without the target's own."""
    check_multi_margin(self.shape, target.shape, None if weight is None else weight.shape)
    if self.dtype.char not in "fd" or target.dtype != np.int64:
        raise TypeError("multi_margin_loss: the dtypes do not fit")
    x, chosen = widened(self).reshape(as_rows(self.shape)), target.reshape(-1, 1)
    if chosen.size and not 0 <= chosen.min() <= chosen.max() < x.shape[1]:
        raise RuntimeError("target out of range")
    terms = np.maximum(margin - np.take_along_axis(x, chosen, 1) + x, 0) ** p
    np.put_along_axis(terms, chosen, 0, 1)
    losses = terms.sum(1) / x.shape[1]
    losses = losses if weight is None else losses * weight.reshape(-1)[chosen[:, 0]]
    is_matrix = self.ndim == 2 or target.shape == (1,)
    return reduced(losses if is_matrix else losses.reshape(()), reduction, self.dtype)


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over classes of max(0, margin - input[target] + input[class])^p, without the target's own,
    reduced.

    `input`: (batch, classes) or (classes,); `target`: classes, int64; `p`: 1 or 2; `weight`: of each target
    class.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    require_kind(margin, (bool, int, float, np.number, Tensor), "Number", "multi_margin_loss", "margin", 4)
    return multi_margin_operator(input, target, p, margin, weight, reduction)


# ---- several labels ----------------------------------------------------------------------------------------


def check_multilabel(shape, target_shape):
    check_rows(shape)
    if shape != target_shape and (shape or math.prod(target_shape) != 1):
        raise RuntimeError(f"inconsistent target size: {list(target_shape)} for input of size: {list(shape)}")


def fake_multilabel(self, target, reduction):
    check_multilabel(self._shape, target._shape)
    if self._dtype not in (dt.float32, dt.float64):
        raise NotImplementedError(
            f"\"multilabel_margin_loss_forward_out_frame\" not implemented for '{scalar_type_name(self._dtype)}'"
        )
    if target._dtype is not dt.int64:
        raise RuntimeError(f"expected scalar type Long but found {scalar_type_name(target._dtype)}")
    shape = self._shape[:1] if len(self._shape) == 2 and reduction == "none" else ()
    return Fake(shape, self._dtype), Fake(self._shape, self._dtype)


def used_labels(target):
    """(the labels up to the first -1, else 0; where they are), (batch, places)."""
    used = (target < 0).cumsum(1) == 0
    return target * used, used


def multilabel_slopes(self, target):
    """(batch, classes): the derivative of each row's loss."""
    x = self.reshape(as_rows(self._shape))
    labels, used = used_labels(target.reshape(x._shape))
    used = used.to(x._dtype)
    others = (x.new_zeros(x._shape).scatter_add(1, labels, used) == 0).to(x._dtype)
    pairs = (1 - x.gather(1, labels).unsqueeze(2) + x.unsqueeze(1) > 0).to(x._dtype)
    pairs = pairs * used.unsqueeze(2) * others.unsqueeze(1) / x._shape[1]
    return pairs.sum(1).scatter_add(1, labels, -pairs.sum(2))


def multilabel_gradient(grads, self, target, reduction):
    if grads[0] is None:
        return None
    slopes = multilabel_slopes(self, target)
    return (spread(grads[0], reduction, slopes._shape[0]) * slopes).reshape(self._shape)


def multilabel_tangent(self_t, self, target, reduction, is_target):
    slopes = multilabel_slopes(self, target)
    return row_tangent(slopes, self_t, reduction, len(self._shape) == 2), zeros_like(is_target)


@operator(
    "multilabel_margin_loss",
    out=False,
    spaces=(),
    fake=fake_multilabel,
    jvp=multilabel_tangent,
    outputs=("output", "is_target"),
    vjp={"self": multilabel_gradient},
)
def multilabel_operator(self, target, reduction):
    """The mean over classes of max(0, 1 - self[label] + self[class]), for each label and each class that is
    none; and which classes are labels."""
    check_multilabel(self.shape, target.shape)
    if self.dtype.char not in "fd" or target.dtype != np.int64:
        raise TypeError("multilabel_margin_loss: the dtypes do not fit")
    x = widened(self).reshape(as_rows(self.shape))
    labels = target.reshape(x.shape)
    if labels.size and not -1 <= labels.min() <= labels.max() < x.shape[1]:
        raise RuntimeError("argument #2 'target' is out of range")
    used = np.cumsum(labels < 0, 1) == 0
    is_target = np.zeros(x.shape, self.dtype)
    rows, places = used.nonzero()
    is_target[rows, labels[rows, places]] = 1
    pairs = np.maximum(1 - np.take_along_axis(x, labels * used, 1)[:, :, None] + x[:, None, :], 0)
    losses = (pairs * used[:, :, None] * (is_target == 0)[:, None, :]).sum((1, 2)) / x.shape[1]
    losses = losses if self.ndim == 2 else losses.reshape(())
    return reduced(losses, reduction, self.dtype), is_target.reshape(self.shape)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """The mean over classes of max(0, 1 - input[label] + input[class]), for each label and each class that
    is none, reduced. `input`: (batch, classes) or (classes,); `target`: of its shape, labels (int64) up to
    the first -1."""
    return multilabel_operator(input, target, reduction_of(reduction, size_average, reduce))[0]


for _function in (
    poisson_nll_loss,
    gaussian_nll_loss,
    margin_ranking_loss,
    hinge_embedding_loss,
    cosine_embedding_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    linear_cross_entropy,
    gumbel_softmax,
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
