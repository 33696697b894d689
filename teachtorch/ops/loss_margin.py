"""Losses of margins between classes: soft, for one label, for several labels."""

import math

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core.dtype import scalar_type_name
from ..kernels.pointwise import silently
from ..tensor import Tensor
from .arguments import refuse_gradient, require_kind
from .declare import operator, publish
from .fake import Fake
from .loss import reduction_of
from .loss_pointwise import reduced, reduced_tensor, share
from .reduction_arrays import widened


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
    refuse_gradient("soft_margin_loss", "target", target)
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
    """The mean over classes of max(0, margin - input[target] + input[class])^p, without the target's own, reduced.

    `input`: (batch, classes) or (classes,); `target`: classes, int64; `p`: 1 or 2; `weight`: of each target
    class.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    require_kind(margin, (bool, int, float, np.number, Tensor), "Number", "multi_margin_loss", "margin", 4)
    refuse_gradient("multi_margin_loss", "weight", weight)
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
    return row_tangent(slopes, self_t, reduction, len(self._shape) == 2), is_target.new_zeros(is_target._shape)


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


for _function in (soft_margin_loss, multi_margin_loss, multilabel_margin_loss):
    publish(_function.__name__, _function, ("nn.functional",))
