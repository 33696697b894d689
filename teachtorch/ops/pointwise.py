"""Arithmetic, comparison and mathematics, element by element."""
import numpy as np

import math
from .declare import BOOL, FLOAT, pointwise, publish


@pointwise("add", numpy=lambda x, y, alpha: np.add(x, alpha * y), plain=lambda x, y: x + y, plain_numpy=np.add,
           vjp={"self": lambda grad: grad, "other": lambda grad, alpha: grad if alpha == 1 else grad * alpha})
def add(self, other, *, alpha=1):
    """self + alpha * other, broadcast."""
    return self + alpha * other


@pointwise("sub", numpy=lambda x, y, alpha: np.subtract(x, alpha * y), plain=lambda x, y: x - y,
           plain_numpy=np.subtract,
           vjp={"self": lambda grad: grad, "other": lambda grad, alpha: -grad if alpha == 1 else grad * -alpha})
def sub(self, other, *, alpha=1):
    """self - alpha * other, broadcast."""
    return self - alpha * other


@pointwise("mul", numpy=np.multiply,
           vjp={"self": lambda grad, other: grad * other, "other": lambda grad, self: grad * self})
def mul(self, other):
    """self * other, broadcast."""
    return self * other


@pointwise("div", numpy=np.divide, kind=FLOAT,
           vjp={"self": lambda grad, other: grad / other,
                "other": lambda grad, self, other: -grad * ((self / other) / other)})
def div(self, other):
    """self / other, broadcast; the quotient of integers is floating."""
    return self / other


@pointwise("neg", numpy=np.negative, vjp={"self": lambda grad: -grad})
def neg(self):
    """-self."""
    return -self


@pointwise("exp", numpy=np.exp, kind=FLOAT, vjp={"self": lambda grad, result: grad * result})
def exp(self):
    """e to the power of each element."""
    return math.exp(self)


@pointwise("relu", numpy=lambda x: np.maximum(x, 0), vjp={"self": lambda grad, result: grad * (result > 0)})
def relu(self):
    """max(self, 0); the derivative at 0 is 0."""
    return max(self, 0)


@pointwise("gt", numpy=np.greater, kind=BOOL)
def gt(self, other):
    """self > other."""
    return self > other


publish("__add__", add, ("Tensor",))
publish("__sub__", sub, ("Tensor",))
publish("__mul__", mul, ("Tensor",))
publish("__truediv__", div, ("Tensor",))
publish("__neg__", neg, ("Tensor",))
publish("__gt__", gt, ("Tensor",))
