"""Leaves, requires_grad and .grad: a truth table.

`is_leaf` is true when a tensor has no grad_fn: when no operation *that was recorded* made it. An operation is
recorded when grad mode is on and an operand requires a gradient.

    made by                                                  requires_grad   is_leaf
    torch.ones(2)                                            False           True
    torch.ones(2, requires_grad=True)                        True            True
    an operation on tensors without requires_grad            False           True
    an operation on a tensor that requires it                True            False
    the same under no_grad                                   False           True

`.grad` is filled for leaves that require a gradient, and for other tensors that require one if
`retain_grad()` was called on them.
"""

from dataclasses import dataclass


@dataclass
class Tensor:
    """What counts of a tensor here. dtype: "float32", "float64" or "int64"."""

    requires_grad: bool = False
    is_leaf: bool = True
    dtype: str = "float32"


def operation(operands, grad_mode=True, dtype="float32"):
    """Return the tensor that an operation on these operands makes.

    operands: a list of tensors. grad_mode: False under no_grad. dtype: that of the result; an integer result,
    as that of argmax, never requires a gradient.
    """
    # solution
    recorded = grad_mode and dtype != "int64" and any(each.requires_grad for each in operands)
    return Tensor(recorded, not recorded, dtype)
    # end of solution


def to(tensor, dtype, grad_mode=True):
    """Return `tensor.to(dtype)`: the same tensor where nothing changes, otherwise an operation's result."""
    # solution
    return tensor if tensor.dtype == dtype else operation([tensor], grad_mode, dtype)
    # end of solution


def requires_grad_(tensor, requires_grad=True):
    """Set requires_grad, and return the tensor.

    RuntimeError when it is turned on for an integer tensor, and when it is turned off for a tensor that is
    no leaf.
    """
    # solution
    if requires_grad and tensor.dtype == "int64":
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    if not requires_grad and not tensor.is_leaf:
        raise RuntimeError("you can only change requires_grad flags of leaf variables")
    tensor.requires_grad = requires_grad
    return tensor
    # end of solution


def gets_grad(tensor, retains_grad=False):
    """Return whether a backward over the tensor fills its .grad. retains_grad: retain_grad() was called."""
    # solution
    return tensor.requires_grad and (tensor.is_leaf or retains_grad)
    # end of solution
