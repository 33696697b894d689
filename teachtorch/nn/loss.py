"""Losses as modules. `reduction`: "mean", "sum" or "none"."""
from ..ops.loss import reduction_of
from . import functional as F
from .module import Module


class Loss(Module):
    """What all losses share. `size_average` and `reduce` are PyTorch's older spelling of `reduction`."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        given = size_average is not None or reduce is not None
        self.reduction = reduction_of(reduction, size_average, reduce) if given else reduction


class WeightedLoss(Loss):
    """A loss with class weights, or weights of elements, in a buffer."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


_Loss, _WeightedLoss = Loss, WeightedLoss      # PyTorch's names, from which users derive losses of their own


class L1Loss(Loss):
    """The absolute differences between input and target."""

    def forward(self, input, target):
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(Loss):
    """The squared differences between input and target."""

    def forward(self, input, target):
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(Loss):
    """d * d / (2 beta) for differences |d| < beta, else |d| - beta / 2."""

    def __init__(self, size_average=None, reduce=None, reduction="mean", beta=1.0):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input, target):
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(Loss):
    """d * d / 2 for differences |d| <= delta, else delta * (|d| - delta / 2)."""

    def __init__(self, reduction="mean", delta=1.0):
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input, target):
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(WeightedLoss):
    """-input[target] over the batch; `input` holds log-probabilities, (N, C) or (N, C, d1, ...)."""

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input, target):
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss(WeightedLoss):
    """log_softmax and NLLLoss in one; `input` holds scores, `target` class indices or probabilities."""

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                 label_smoothing=0.0):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input, target):
        return F.cross_entropy(input, target, weight=self.weight, ignore_index=self.ignore_index,
                               reduction=self.reduction, label_smoothing=self.label_smoothing)


class BCELoss(WeightedLoss):
    """-(target log(input) + (1 - target) log(1 - input)) of probabilities."""

    def forward(self, input, target):
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(WeightedLoss):
    """BCELoss of sigmoid(input), exact for large inputs. `pos_weight`: how much more positive targets count."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input, target):
        return F.binary_cross_entropy_with_logits(input, target, self.weight, pos_weight=self.pos_weight,
                                                  reduction=self.reduction)


class KLDivLoss(Loss):
    """target * (log(target) - input); `input` holds log-probabilities, and so does `target` if `log_target`."""

    def __init__(self, size_average=None, reduce=None, reduction="mean", log_target=False):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input, target):
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)
