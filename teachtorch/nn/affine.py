"""The weight and bias of normalisations, one number each for every channel or element: 1 and 0 at first."""
from ..ops.declare import exports
from . import init
from .parameter import Parameter

empty = exports[""]["empty"]


def register_affine(module, shape, has_weight, has_bias, device, dtype):
    """Register `weight` and `bias` of the shape, as parameters without values or as None."""
    for name, wanted in (("weight", has_weight), ("bias", has_bias)):
        value = Parameter(empty(shape, device=device, dtype=dtype)) if wanted else None
        module.register_parameter(name, value)


def reset_affine(module):
    """Weight 1, bias 0, as far as there are any."""
    if module.weight is not None:
        init.ones_(module.weight)
    if module.bias is not None:
        init.zeros_(module.bias)
