"""AccumulateGrad: the node where a leaf's gradient ends up in `.grad`."""
from sys import getrefcount

from numpy import ndarray

from ..core import geometry
from ..core.layout import contiguous_format
from ..dispatch.state import state
from ..tensor import Tensor, entries_of, stride_of
from .node import ACCUMULATE_GRAD_SEQUENCE_NR, InputMetadata, Node


class AccumulateGrad(Node):
    """Adds what arrives to `variable.grad` (torch/csrc/autograd/functions/accumulate_grad.h)."""

    __slots__ = ("variable",)

    def __init__(self, variable):
        self.sources = ()
        self.input_metadata = (InputMetadata(variable),)
        self.sequence_nr = ACCUMULATE_GRAD_SEQUENCE_NR
        self.hooks = None
        self._metadata = None
        self.variable = variable

    def name(self):
        return "torch::autograd::AccumulateGrad"

    def apply(self, grads):
        meta = self.variable._meta
        if grads[0] is not None and meta.requires_grad:      # it may have been switched off since the forward pass
            if meta.grad is None:
                meta.grad = first_gradient(self.variable, grads)
            elif state.grad_enabled or entries_of(meta.grad) is not None:
                meta.grad = sum_of(meta.grad, grads[0])
            else:
                meta.grad.add_(grads[0])
        for hook in tuple((meta.post_accumulate_hooks or {}).values()):
            expect_nothing(hook(self.variable), self.variable)
        return []


def expect_nothing(found, variable):
    """A hook after accumulation has nothing to replace: an error for what it returns, but for the leaf."""
    if found is None or found is variable:
        return
    if not isinstance(found, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(found).__name__}'")
    raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def sum_of(grad, new):
    """The old gradient and the new one.

    As part of a new graph the old one must stay as it was, and a sparse one cannot take a dense one in.
    """
    if entries_of(grad) is not None and entries_of(new) is None:
        return new + grad
    return grad + new if state.grad_enabled else grad.add_(new)


def first_gradient(variable, grads):
    """The gradient to keep: the incoming tensor itself if nobody else holds it and its layout fits, else a copy."""
    wanted = gradient_stride(variable)
    # Two references: the list's and getrefcount's own argument.
    if not state.grad_enabled and getrefcount(grads[0]) == 2 and may_steal(grads[0], wanted):
        return grads[0]
    if entries_of(grads[0]) is not None:
        return first_sparse_gradient(grads)
    if not is_dense(variable):
        return grads[0].clone(memory_format=contiguous_format)
    return copy_in_layout(grads[0], wanted)


def first_sparse_gradient(grads):
    """The incoming sparse gradient itself if nobody else holds it or its entries, else a copy."""
    entries = entries_of(grads[0])
    # Two references each: the list's or the slot's, and getrefcount's own argument; `entries` is a third one.
    is_alone = getrefcount(grads[0]) == 2 and getrefcount(entries) == 3
    if not state.grad_enabled and is_alone and is_sole_owner(entries.indices) and is_sole_owner(entries.values):
        return grads[0]
    return grads[0].clone()


def may_steal(grad, wanted_stride):
    """Whether `grad` alone looks at its memory, in the layout that `.grad` should have."""
    return is_sole_owner(grad) and stride_of(grad) == wanted_stride


def is_sole_owner(t):
    """Whether nothing but this tensor looks at its memory: no view, no alias, no ndarray of a user's."""
    if t._view is not None or t._array is None:
        return False
    # Two references each: the holder's and getrefcount's own argument; a third of the owner, the name `owner`.
    owner = t._array.base
    is_private = owner is None or type(owner) is ndarray and getrefcount(owner) == 3
    return is_private and getrefcount(t._array) == 2 and (t._counter is None or getrefcount(t._counter) == 2)


def gradient_stride(variable):
    """The layout contract: the variable's own strides if it is dense, contiguous ones otherwise."""
    return stride_of(variable) if is_dense(variable) else geometry.contiguous_strides(variable._shape)


def is_dense(t):
    return geometry.is_non_overlapping_and_dense(t._shape, stride_of(t))


def copy_in_layout(grad, stride):
    """A copy with these strides, differentiable while the graph is being recorded."""
    if not state.grad_enabled and stride_of(grad) == stride:
        return grad.clone()
    return grad.new_empty_strided(grad._shape, stride).copy_(grad)
