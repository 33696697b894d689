"""A layer of two inputs."""

import math

from ..ops.declare import exports
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

empty = exports[""]["empty"]


class Bilinear(Module):
    """y_k = x1ᵀ W_k x2 + b_k, with W of shape (out, in1, in2). Starts uniform in ±1/sqrt(in1_features)."""

    def __init__(self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        for name, size in (("in1_features", in1_features), ("in2_features", in2_features)):
            if size <= 0:
                raise ValueError(f"{name} must be > 0, but got ({name}={size})")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        shape = (out_features, in1_features, in2_features)
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        self.register_parameter(
            "bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self):
        """Draw weight and bias anew."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1, input2):
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self):
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
