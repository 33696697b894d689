"""How many floating point operations a call is estimated at, from the shapes of its arguments.

Counted are the operators that PyTorch counts: a multiplication and an addition for each product of a matrix
product or convolution, one operation for each element of `add` and `mul`. (compute_flops in
torch/csrc/profiler/util.cpp)
"""
from math import prod


def flops(name, shapes, result):
    """The estimate for an operator; 0 for one that is not counted.

    `shapes`: of its arguments, as shapes_of lists them. `result`: the shape of its result.
    """
    rule = RULES.get(name)
    return rule(shapes, result) if rule is not None else 0


def matrix_product(first, second):
    return 2 * prod(first) * second[-1] if first and second else 0


def convolution(shapes, result):
    """A product for each element of the weight at each place of the result, for each image."""
    return 2 * result[0] * prod(shapes[1]) * prod(result[2:])


RULES = {
    "aten::mm": lambda shapes, _: matrix_product(shapes[0], shapes[1]),
    "aten::bmm": lambda shapes, _: matrix_product(shapes[0], shapes[1]),
    "aten::addmm": lambda shapes, _: matrix_product(shapes[1], shapes[2]),
    "aten::baddbmm": lambda shapes, _: matrix_product(shapes[1], shapes[2]),
    "aten::conv2d": convolution,
    "aten::add": lambda shapes, _: prod(shapes[0]),
    "aten::mul": lambda shapes, _: prod(shapes[0]),
}
