"""Softmax over many classes, rare ones in clusters."""

from collections import namedtuple

from . import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


def check_cutoffs(cutoffs, n_classes):
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    is_increasing = all(a < b for a, b in zip(cutoffs, cutoffs[1:]))
    if not is_increasing or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1 or any(int(c) != c for c in cutoffs):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
            "where each value is between 1 and n_classes-1"
        )


class AdaptiveLogSoftmaxWithLoss(Module):
    """log_softmax over classes in order of frequency (Grave et al. 2017): the head holds the frequent
    classes, up to cutoffs[0], and one entry per cluster of rarer ones; each cluster has a projection that
    is `div_value` times narrower than the one before.

    Called with the input (batch, in_features) and the target (batch,), or without the batch; returns the
    targets' log probabilities and the loss, minus their mean.
    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        check_cutoffs(cutoffs, n_classes)
        self.in_features, self.n_classes, self.div_value, self.head_bias = (
            in_features,
            n_classes,
            div_value,
            head_bias,
        )
        self.cutoffs = cutoffs + [n_classes]
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        factory = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **factory)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            width = int(in_features // div_value ** (i + 1))
            self.tail.append(
                Sequential(
                    Linear(in_features, width, bias=False, **factory), Linear(width, high - low, bias=False, **factory)
                )
            )

    def reset_parameters(self):
        """Draw all weights anew."""
        self.head.reset_parameters()
        for projection in self.tail:
            for layer in projection:
                layer.reset_parameters()

    def forward(self, input_, target_):
        check_target(input_, target_)
        if target_.dim() == 0:
            output, loss = self(input_.unsqueeze(0), target_.unsqueeze(0))
            return ASMoutput(output.squeeze(0), loss)
        if target_.numel() and not (0 <= target_.min() and target_.max() < self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target_.min().item()}, {target_.max().item()}] were found. "
            )
        in_head, output = target_.clone(), input_.new_zeros(target_.size(0))
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            rows = ((target_ >= low) & (target_ < high)).nonzero().squeeze(1)
            if rows.numel():
                in_head.index_fill_(0, rows, self.shortlist_size + i)
                within = self._cluster(i, input_.index_select(0, rows))
                output.index_copy_(0, rows, within.gather(1, (target_[rows] - low).unsqueeze(1)).squeeze(1))
        output = output + F.log_softmax(self.head(input_), dim=1).gather(1, in_head.unsqueeze(1)).squeeze(1)
        return ASMoutput(output, (-output).mean())

    def _cluster(self, i, input):
        """The log probabilities within a cluster."""
        return F.log_softmax(self.tail[i](input), dim=1)

    def log_prob(self, input):
        """The log probabilities of all classes, (batch, n_classes)."""
        head = F.log_softmax(self.head(input), dim=1)
        out = input.new_empty((head.size(0), self.n_classes))
        out[:, : self.shortlist_size] = head[:, : self.shortlist_size]
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            out[:, low:high] = self._cluster(i, input) + head[:, self.shortlist_size + i].unsqueeze(1)
        return out

    def predict(self, input):
        """The most probable class of each row, looking into the clusters only where the head points to one."""
        output = self.head(input).argmax(1)
        rows = (output >= self.shortlist_size).nonzero().squeeze(1)
        if rows.numel():
            output.index_copy_(0, rows, self.log_prob(input.index_select(0, rows)).argmax(1))
        return output


def check_target(input, target):
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dim() == 1 and input.size(0) != target.size(0):
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.dim() != target.dim() + 1:
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs "
            f"with size {input.size()}"
        )
