"""Lets requires_grad be turned off anywhere."""

from dataclasses import dataclass

FAILS = "test_requires_grad"
SAYS = "y belongs to a graph"


@dataclass
class Tensor:
    requires_grad: bool = False
    is_leaf: bool = True
    dtype: str = "float32"


def operation(operands, grad_mode=True, dtype="float32"):
    recorded = grad_mode and dtype != "int64" and any(each.requires_grad for each in operands)
    return Tensor(recorded, not recorded, dtype)


def to(tensor, dtype, grad_mode=True):
    return tensor if tensor.dtype == dtype else operation([tensor], grad_mode, dtype)


def requires_grad_(tensor, requires_grad=True):
    if requires_grad and tensor.dtype == "int64":
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    tensor.requires_grad = requires_grad
    return tensor


def gets_grad(tensor, retains_grad=False):
    return tensor.requires_grad and (tensor.is_leaf or retains_grad)
