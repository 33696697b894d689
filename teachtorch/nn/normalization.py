"""Normalisation over the last dimensions, as modules."""
import numbers

from ..ops.declare import exports
from . import functional as F
from . import init
from .affine import register_affine, reset_affine
from .module import Module
from .parameter import Parameter

empty = exports[""]["empty"]


def as_shape(normalized_shape):
    return (normalized_shape,) if isinstance(normalized_shape, numbers.Integral) else tuple(normalized_shape)


class LayerNorm(Module):
    """(x - mean) / sqrt(variance + eps) over the last dimensions, of `normalized_shape`, times weight plus bias.

    `elementwise_affine`: whether there are a weight (starts 1) and, with `bias`, a bias (starts 0). Ba et al. 2016.
    """

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape, self.eps = as_shape(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        register_affine(self, self.normalized_shape, elementwise_affine, elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self):
        """Weight 1, bias 0."""
        reset_affine(self)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
                f"bias={self.bias is not None}")


class RMSNorm(Module):
    """x / sqrt(mean(x²) + eps) over the last dimensions, of `normalized_shape`, times weight (starts 1).

    Zhang and Sennrich 2019.
    """

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape, self.eps = as_shape(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        value = Parameter(empty(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", value)
        self.reset_parameters()

    def reset_parameters(self):
        """Weight 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
