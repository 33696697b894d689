"""Dropout as modules: they act in training only."""
from . import functional as F
from .module import Module


class DropoutOfKind(Module):
    """What the kinds share. ValueError for a probability outside [0, 1]."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


_DropoutNd = DropoutOfKind                  # PyTorch's name


class Dropout(DropoutOfKind):
    """Elements become zero with probability p; the rest is divided by 1 - p (Hinton et al. 2012)."""

    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(DropoutOfKind):
    """Whole channels of (N, C, L) or (C, L) become zero with probability p."""

    def forward(self, input):
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(DropoutOfKind):
    """Whole channels of (N, C, H, W) become zero with probability p."""

    def forward(self, input):
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(DropoutOfKind):
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) become zero with probability p."""

    def forward(self, input):
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(DropoutOfKind):
    """Dropout that keeps mean 0 and variance 1 of SELU's outputs (Klambauer et al. 2017)."""

    def forward(self, input):
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(DropoutOfKind):
    """AlphaDropout of whole channels of (N, C, ...)."""

    def forward(self, input):
        return F.feature_alpha_dropout(input, self.p, self.training)
