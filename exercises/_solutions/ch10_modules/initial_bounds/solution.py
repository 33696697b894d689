"""How large the first weights are: fans, gains, Kaiming and Xavier.

A weight has the shape (outputs, inputs, *kernel). One output of the layer is a sum over fan_in products,
and one input goes into fan_out of them; both count the places of the kernel:

    fan_in  = inputs  * places of the kernel          fan_out = outputs * places of the kernel

`inputs` is what stands in the shape. A convolution in groups has a smaller number there, and that is right.

A nonlinearity makes what passes through it smaller; its gain makes up for that:

    linear, sigmoid 1     tanh 5/3     relu sqrt(2)     leaky_relu sqrt(2 / (1 + slope^2))     selu 3/4

    Kaiming   standard deviation   gain / sqrt(fan)
    Xavier    standard deviation   gain * sqrt(2 / (fan_in + fan_out))

Uniform numbers in [-bound, bound) have the standard deviation bound / sqrt(3).
"""

import math


def fans(shape):
    """(fan_in, fan_out) of a weight of this shape, two ints. ValueError for fewer than two dimensions."""
    # solution
    if len(shape) < 2:
        raise ValueError("a fan needs outputs and inputs")
    places = math.prod(shape[2:])
    return shape[1] * places, shape[0] * places
    # end of solution


def gain(nonlinearity, slope=0.01):
    """The gain as a float. slope: of leaky_relu below zero. ValueError for an unknown name."""
    # solution
    known = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 0.75}
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + slope**2))
    if nonlinearity not in known:
        raise ValueError(f"unknown nonlinearity {nonlinearity}")
    return known[nonlinearity]
    # end of solution


def kaiming_std(shape, mode="fan_in", nonlinearity="leaky_relu", slope=0.0):
    """The deviation of Kaiming's numbers. mode: "fan_in" keeps the size forward, "fan_out" backward."""
    # solution
    return gain(nonlinearity, slope) / math.sqrt(fans(shape)[mode == "fan_out"])
    # end of solution


def kaiming_bound(shape, mode="fan_in", nonlinearity="leaky_relu", slope=0.0):
    """The bound of Kaiming's uniform numbers."""
    # solution
    return math.sqrt(3) * kaiming_std(shape, mode, nonlinearity, slope)
    # end of solution


def xavier_bound(shape, gain=1.0):
    """The bound of Xavier's uniform numbers."""
    # solution
    return gain * math.sqrt(6 / sum(fans(shape)))
    # end of solution


def default_bounds(shape):
    """(bound of the weight, bound of the bias) of nn.Linear and nn.Conv, which both start uniform.

    The weight is Kaiming's, for leaky_relu with the slope sqrt(5); the bias has the bound 1 / sqrt(fan_in).
    """
    # solution
    return kaiming_bound(shape, slope=math.sqrt(5)), 1 / math.sqrt(fans(shape)[0])
    # end of solution
