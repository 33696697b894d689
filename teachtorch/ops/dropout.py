"""Dropout: elements, or whole channels, become zero at random, and the rest is scaled up to keep the mean.

All variants are the input times a random mask, with PyTorch's random numbers (aten/src/ATen/native/Dropout.cpp).
"""
import math
import warnings

from ..core import dtype as dt
from .arguments import require_bool
from .declare import exports, publish

ALPHA = 1.7580993408473766         # what a dropped unit becomes, negated: SELU's limit (Klambauer et al. 2017)

empty, empty_like, zeros = (exports[""][name] for name in ("empty", "empty_like", "zeros"))
ones_like, zeros_like = exports[""]["ones_like"], exports[""]["zeros_like"]


# ---- masks ----------------------------------------------------------------------------------------------------

def element_mask(input):
    """Room for one number per element."""
    return empty_like(input)


def feature_mask(input):
    """Room for one number per channel, to broadcast against the input (N, C, ...)."""
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    shape = (*input.shape[:2], *[1] * (input.dim() - 2))
    return empty(shape, dtype=input.dtype, device=input.device)


def dropped(input, p, training, inplace, mask_of, alpha=False):
    """The input times a mask that is zero with probability p."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    if p == 0 or not training or not input.numel():
        return input
    multiply = input.mul_ if inplace else input.mul
    if p == 1:
        return multiply(zeros((), dtype=input.dtype, device=input.device))
    mask = mask_of(input).bernoulli_(1 - p)
    if not alpha:
        return multiply(mask.div_(1 - p))
    scale = 1 / math.sqrt((ALPHA * ALPHA * p + 1) * (1 - p))
    shift = mask.add(-1).mul_(ALPHA * scale).add_(ALPHA * scale * p)
    return multiply(mask.mul_(scale)).add_(shift)


# ---- torch.dropout and its kin ----------------------------------------------------------------------------------

def declare(name, mask_of, alpha, doc):
    """Publish `name(input, p, train)` and its in-place variant."""
    def dropout(input, p, train):
        return dropped(input, p, train, False, mask_of, alpha)

    def dropout_(input, p, train):
        return dropped(input, p, train, True, mask_of, alpha)

    for function, suffix, text in ((dropout, "", doc), (dropout_, "_", f"In-place version of `{name}`.")):
        function.__name__ = function.__qualname__ = name + suffix
        function.__doc__ = text
        publish(name + suffix, function, ("",))


declare("dropout", element_mask, False, "Elements are zero with probability p, the rest is divided by 1 - p.")
declare("feature_dropout", feature_mask, False, "Channels of (N, C, ...) are zero with probability p.")
declare("alpha_dropout", element_mask, True, "Dropout that keeps mean 0 and variance 1 of SELU's outputs.")
declare("feature_alpha_dropout", feature_mask, True, "alpha_dropout of whole channels of (N, C, ...).")


def native_dropout(input, p, train):
    """(dropout of the input, the mask of what was kept as bools)."""
    if train is False or not input.numel():
        return input.clone(), ones_like(input, dtype=dt.bool)
    if p == 1:
        return zeros_like(input), zeros_like(input, dtype=dt.bool)
    mask = empty_like(input, dtype=dt.bool).bernoulli_(1 - p)
    return input * mask * (1 / (1 - p)), mask


publish("native_dropout", native_dropout, ("",))


# ---- nn.functional ----------------------------------------------------------------------------------------------

def checked(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return p


def dropout(input, p=0.5, training=True, inplace=False):
    """Zero with probability p, else input / (1 - p), element by element; the input itself unless `training`.

    ValueError if p is not in [0, 1]. https://arxiv.org/abs/1207.0580
    """
    checked(p)
    require_bool(training, "dropout", "train", 3)
    return dropped(input, p, training, inplace, element_mask)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean 0 and variance 1 of SELU's outputs. ValueError if p is not in [0, 1]."""
    return dropped(input, checked(p), training, inplace, element_mask, alpha=True)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout of whole channels of (N, C, ...). ValueError if p is not in [0, 1]."""
    return dropped(input, checked(p), training, inplace, feature_mask, alpha=True)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Whole channels of (N, C, L) or (C, L) become zero with probability p."""
    checked(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that "
                           "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, a "
                           "channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs).")
    return batchwise(input, p, training, inplace, input.dim() == 3)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Whole channels of (N, C, H, W) become zero with probability p."""
    checked(p)
    warn_of_dims(input.dim(), 2)
    if input.dim() == 3:
        warnings.warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
                      "behavior is desired - input is interpreted as shape (N, C, L), where C is the channel dim. "
                      "This behavior will change in a future release to interpret the input as one without a batch "
                      "dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please "
                      "switch to using dropout1d instead.", stacklevel=2)
    return dropped(input, p, training, inplace, feature_mask)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) become zero with probability p."""
    checked(p)
    warn_of_dims(input.dim(), 3)
    return batchwise(input, p, training, inplace, input.dim() == 5)


def warn_of_dims(ndim, spatial):
    if ndim in (spatial + 1, spatial + 2):
        return
    name = f"dropout{spatial}d"
    warnings.warn(f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error in "
                  "a future release. To retain the behavior and silence this warning, please use dropout instead. "
                  f"Note that {name} exists to provide channel-wise dropout on inputs with {spatial} spatial "
                  f"dimensions, a channel dimension, and an optional batch dimension (i.e. {spatial + 1}D or "
                  f"{spatial + 2}D inputs).",
                  stacklevel=3)


def batchwise(input, p, training, inplace, is_batched):
    """Feature dropout of a batch, or of one sample without a batch dimension."""
    if is_batched:
        return dropped(input, p, training, inplace, feature_mask)
    if inplace:
        return dropped(input.unsqueeze_(0), p, training, True, feature_mask).squeeze_(0)
    return dropped(input.unsqueeze(0), p, training, False, feature_mask).squeeze(0)


for _function in (dropout, alpha_dropout, feature_alpha_dropout, dropout1d, dropout2d, dropout3d):
    publish(_function.__name__, _function, ("nn.functional",))
