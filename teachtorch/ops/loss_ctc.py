"""The loss of connectionist temporal classification (Graves et al. 2006)."""

import numpy as np

from ..core import dtype as dt
from ..core.dtype import scalar_type_name
from ..kernels import ctc as kernels
from ..kernels.pointwise import silently
from ..tensor import Tensor, array_of
from .creation import beside
from .declare import operator, publish
from .fake import Fake
from .loss import reduction_of

CHECKING = " (while checking arguments for ctc_loss_allocate_outputs)"


# ---- arguments ---------------------------------------------------------------------------------------------


def lengths_of(lengths, name):
    """Lengths as int64, from a list or a tensor of integers."""
    if isinstance(lengths, Tensor):
        if lengths._dtype.category == dt.FLOATING:
            raise RuntimeError(f"{name} must be integral")
        lengths = array_of(lengths)
    return np.asarray(lengths, np.int64).reshape(-1)


def check(log_probs, targets, input_lengths, target_lengths, blank):
    """PyTorch's refusals."""
    if not log_probs.numel():
        raise RuntimeError("log_probs tensor must not be empty")
    if log_probs.dim() != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs.dim()}-dimensional tensor for argument "
            "#1 'log_probs'" + CHECKING
        )
    if log_probs._dtype not in (dt.float32, dt.float64):
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{scalar_type_name(log_probs._dtype)}'")
    steps, batch, classes = log_probs._shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    check_lengths("input_lengths", input_lengths, batch)
    check_lengths("target_lengths", target_lengths, batch)
    if input_lengths.max() > steps:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {steps}, but got value {input_lengths.max()}" + CHECKING
        )
    check_targets(targets, target_lengths, batch)


def check_lengths(name, lengths, batch):
    if lengths.size != batch:
        raise RuntimeError(f"{name} must be of size batch_size")
    if lengths.min() < 0:
        raise RuntimeError(f"Expected {name} to have value at least 0, but got value {lengths.min()}" + CHECKING)


def check_targets(targets, target_lengths, batch):
    rows = batch if targets.dim() == 2 else int(target_lengths.sum())
    if targets._shape[0] != rows:
        raise RuntimeError(
            f"Expected tensor to have size {rows} at dimension 0, but got size {targets._shape[0]} for "
            "argument #2 'targets'" + CHECKING
        )
    if targets.dim() == 2 and targets._shape[1] < target_lengths.max():
        raise RuntimeError(
            f"Expected tensor to have size at least {target_lengths.max()} at dimension 1, but got size "
            f"{targets._shape[1]} for argument #2 'targets'" + CHECKING
        )


def padded_targets(targets, target_lengths, blank):
    """(batch, longest), from rows of labels or one row after the other; blanks beyond the ends."""
    labels = array_of(targets).astype(np.int64)
    inside = np.arange(target_lengths.max())[None] < target_lengths[:, None]
    found = np.full(inside.shape, blank, np.int64)
    found[inside] = labels[:, : inside.shape[1]][inside] if labels.ndim == 2 else labels
    return found


# ---- the operator ------------------------------------------------------------------------------------------


def fake_ctc(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
    steps, batch, _ = log_probs._shape
    states = 2 * targets._shape[1] + 1
    return Fake((batch,), log_probs._dtype), Fake((batch, steps, states), log_probs._dtype)


def ctc_gradient(grads, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity, result0, result1):
    if grads[0] is None:
        return None
    return ctc_backward(
        grads[0], log_probs, targets, input_lengths, target_lengths, blank, result0, result1, zero_infinity
    )


@operator(
    "ctc_loss", fake=fake_ctc, out=False, outputs=("result0", "result1"), spaces=(), vjp={"log_probs": ctc_gradient}
)
def ctc_operator(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
    """Minus the log probability of each target (batch, labels), and the alphas (batch, steps, states)."""
    return silently(kernels.losses, log_probs, targets, input_lengths, target_lengths, blank)


def refuse(grad):
    raise RuntimeError("the derivative for '_ctc_loss_backward' is not implemented.")


@operator(
    "_ctc_loss_backward",
    out=False,
    spaces=(),
    vjp={"grad": refuse, "log_probs": refuse},
    fake=lambda grad, log_probs, *rest: Fake(log_probs._shape, log_probs._dtype),
)
def ctc_backward(
    grad, log_probs, targets, input_lengths, target_lengths, blank, neg_log_likelihood, log_alpha, zero_infinity
):
    """The gradient of ctc_loss's log probabilities."""
    return silently(
        kernels.gradient,
        grad,
        log_probs,
        targets,
        input_lengths,
        target_lengths,
        blank,
        neg_log_likelihood,
        log_alpha,
        zero_infinity,
    )


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Minus the log probability of label sequences, summed over all ways to spread them over the steps.

    Args:
        log_probs: (steps, batch, classes) or (steps, classes), float32 or float64.
        targets: labels (batch, longest), or all labels one after the other.
        input_lengths, target_lengths: of each sequence; lists or tensors of integers.
        blank: the class that stands for no label.
        reduction: "mean" divides each loss by its target's length first.
        zero_infinity: makes infinite losses, of targets too long for their input, zero.
    """
    reduction = reduction_of(reduction)
    if isinstance(input_lengths, Tensor) != isinstance(target_lengths, Tensor):
        raise TypeError(
            "ctc_loss() received an invalid combination of arguments: input_lengths and target_lengths must "
            "both be tensors, or both tuples of ints"
        )
    is_batched = log_probs.dim() != 2
    if not is_batched:
        log_probs = log_probs.unsqueeze(1)
        targets = targets.unsqueeze(0) if targets.dim() == 1 else targets
    input_lengths = lengths_of(input_lengths, "input_lengths")
    target_lengths = lengths_of(target_lengths, "target_lengths")
    check(log_probs, targets, input_lengths, target_lengths, blank)
    labels = padded_targets(targets, target_lengths, blank)
    if labels.size and not 0 <= labels.min() <= labels.max() < log_probs._shape[2]:
        raise RuntimeError(f"ctc_loss: targets must be classes from 0 to {log_probs._shape[2] - 1}")
    found = ctc_operator(
        log_probs,
        beside(log_probs, labels),
        beside(log_probs, input_lengths),
        beside(log_probs, target_lengths),
        blank,
        zero_infinity,
    )[0]
    found = found.masked_fill(found == float("inf"), 0) if zero_infinity else found
    if reduction == "mean":
        return (found / beside(found, np.maximum(target_lengths, 1))).mean()
    found = found.sum() if reduction == "sum" else found
    return found if is_batched or reduction == "sum" else found.squeeze(0)


publish("ctc_loss", ctc_loss, ("nn.functional",))
NUMBERED = ("none", "mean", "sum")


def numbered(function, position):
    """torch's form of a loss, which takes the reduction as a number: 0 none, 1 mean, 2 sum. Left out, it is
    0: that is what PyTorch's argument parser makes of the default, Reduction::Mean."""

    def loss(*args, **kwargs):
        if len(args) > position:
            args = (*args[:position], NUMBERED[args[position]], *args[position + 1 :])
        else:
            kwargs["reduction"] = NUMBERED[kwargs.get("reduction", 0)]
        return function(*args, **kwargs)

    loss.__name__ = loss.__qualname__ = function.__name__
    loss.__doc__ = f"nn.functional.{function.__name__}, with the reduction as a number: 0 none, 1 mean, 2 sum."
    return loss


publish("ctc_loss", numbered(ctc_loss, 5), ("",))
