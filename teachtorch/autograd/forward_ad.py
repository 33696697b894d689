"""Forward mode: dual numbers, array by array.

Inside a `dual_level`, a tensor may carry a tangent; the Autograd kernels push tangents through each operator beside its
result. An operator's declaration says how (`jvp`): as itself, as the sum of its VJPs, or by a formula of its own.
https://pytorch.org/docs/stable/autograd.html#forward-mode-automatic-differentiation
"""
import contextlib
from collections import namedtuple

from ..core import dtype as dt
from ..dispatch.operator import registry
from ..dispatch.state import state, switch_forward_ad
from ..tensor import Tensor, stride_of
from .derivative import ARGUMENT, RESULT, describe
from .meta import meta_of
from .operator_node import OperatorNode
from .saved import SavedTensor

LINEAR, ELEMENTWISE, MULTILINEAR = "linear", "elementwise", "multilinear"

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ["primal", "tangent"])
_carriers = []                       # of the open level: tensors whose tangents end with it


@contextlib.contextmanager
def dual_level():
    """Open a level; its tangents are dropped at the end. RuntimeError if one is open: levels do not nest."""
    enter_dual_level()
    try:
        yield 0
    finally:
        exit_dual_level()


def enter_dual_level():
    """Open a level until exit_dual_level(), and return its number."""
    if state.dual_level:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    switch_forward_ad(True, state.forward_grad)
    return 0


def exit_dual_level(*, level=None):
    """Close the open level: its tangents are dropped. RuntimeError if none is open."""
    if not state.dual_level:
        raise RuntimeError("Dual level must be a positive number.")
    switch_forward_ad(False, state.forward_grad)
    while _carriers:
        _carriers.pop()._meta.tangent = None


class _set_fwd_grad_enabled(contextlib.ContextDecorator):
    """Whether tensors have tangents, from now on and, as a `with` block, until its end."""

    def __init__(self, mode):
        self.prev = state.forward_grad
        self.set(mode)

    def set(self, mode):
        switch_forward_ad(state.dual_level, mode)

    def __enter__(self):
        pass

    def __exit__(self, *error):
        self.set(self.prev)


def make_dual(tensor, tangent, *, level=None):
    """A view of `tensor` that carries `tangent` (of the same shape and dtype)."""
    require_level()
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if t._dtype.category != dt.FLOATING:
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {t._dtype}")
    if tangent_of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 "
            "is not supported."
        )
    check_size(tensor, tangent)
    dual = tensor.view_as(tensor)
    carry(dual, laid_out_like(tensor, tangent))
    return dual


def laid_out_like(tensor, tangent):
    """The tangent, copied if its elements lie in another order than the tensor's. RuntimeError where elements of the
    tensor share memory, for they cannot have tangents of their own."""
    if stride_of(tensor) == stride_of(tangent):
        return tangent
    return tangent.new_empty_strided(tensor._shape, stride_of(tensor)).copy_(tangent)


def check_size(tensor, tangent):
    """RuntimeError unless the tangent has the shape of the tensor."""
    if tensor._shape != tangent._shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, "
            f"this is not supported. Tensor is of size {list(tensor._shape)} while the given forward "
            f"gradient is of size {list(tangent._shape)}."
        )


def unpack_dual(tensor, *, level=None):
    """(primal, tangent) of a dual tensor; the tangent is None where there is none, or no level is open."""
    tangent = tangent_of(tensor)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    primal = tensor.view_as(tensor)
    meta_of(primal).tangent = NONE
    return UnpackedDualTensor(primal, tangent)


def require_level():
    """RuntimeError unless a level is open."""
    if not state.dual_level:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to "
                           "enter_dual_level() first.")


NONE = object()                      # the tangent of a primal: none, whatever its base has


def tangent_of(value):
    """The tangent of a tensor, or None. A view without one of its own looks at the tangent of its base."""
    if not isinstance(value, Tensor) or not state.forward_ad:
        return None
    tangent = None if value._meta is None else value._meta.tangent
    if tangent is None and value._view is not None:
        return tangent_of_view(value)
    return None if tangent is NONE else tangent


def tangent_of_view(view):
    """The part of the base's tangent that the view looks at."""
    base = view._view.base
    tangent = None if base._meta is None else base._meta.tangent
    if tangent is None or tangent is NONE:
        return None
    return tangent.as_strided(view._shape, stride_of(view), view._offset - base._offset + tangent._offset)


def carry(t, tangent):
    """Give a tensor its tangent for the open level."""
    meta_of(t).tangent = tangent
    _carriers.append(t)


def change_tangent(target, tangent):
    """After an in-place change: the target's new tangent. Views of the same base see it, too."""
    own = tangent_of(target)
    if own is not None:
        own.copy_(tangent)
        return
    base = target if target._view is None else target._view.base
    zeros = tangent.new_empty_strided(base._shape, stride_of(base)).zero_()
    carry(base, zeros)
    (zeros if base is target else tangent_of_view(target)).copy_(tangent)


def tangent_after(op, args):
    """The tangent that `args[0]` has after the in-place operator ran: that of its out-of-place twin, or, where there
    is none, the operator itself on the tangents, of which it is linear."""
    twin = registry.get(op.name.removesuffix("_"))
    if op.info.kind == "in-place" and (twin is None or op.name in LINEAR_IN_PLACE):
        target = tangent_or_zero(args[0]).clone()
        op(target, *[tangent_or_zero(a) if isinstance(a, (Tensor, int, float)) else a for a in args[1:]])
        return target
    result = twin(args[0].clone(), *args[1:])
    tangent = tangent_of(result)
    return result.new_zeros(result._shape) if tangent is None else tangent


LINEAR_IN_PLACE = ("copy_", "fill_", "zero_")


def has_tangent(args):
    """Whether an argument, or a tensor in a list of them, has a tangent."""
    return any([tangent_of(b) is not None for a in args for b in (a if a.__class__ in (list, tuple) else (a,))])


def push_tangents(op, derivatives, args, results):
    """Give the results of `op(*args)` their tangents."""
    outputs = (results,) if isinstance(results, Tensor) else results
    found = result_tangents(op, derivatives, args, outputs)
    for out, tangent in zip(outputs, found if isinstance(found, (tuple, list)) else (found,)):
        if tangent is not None and out._dtype.category == dt.FLOATING:
            carry(out, own_tangent(out, tangent, args))
    for out in outputs:
        if out._meta is not None and isinstance(out._meta.grad_fn, OperatorNode):
            give_to_saved(out._meta.grad_fn, outputs)
            break


def give_to_saved(node, outputs):
    """Results that a node saved have no history of their own; their tangents they have, for forward over reverse."""
    for (kind, index), value in zip(node.plan.entries, node.saved):
        if kind == RESULT and isinstance(value, SavedTensor) and tangent_of(outputs[index]) is not None:
            carry(value.tensor, tangent_of(outputs[index]))


def own_tangent(out, tangent, args):
    """The tangent in the result's dtype, in memory of its own unless that is a view: in-place changes write to it."""
    if tangent._dtype is not out._dtype:
        return tangent.to(out._dtype)
    is_shared = tangent._view is not None or any(tangent is tangent_of(a) for a in args)
    return tangent.clone() if is_shared and out._view is None else tangent


def result_tangents(op, derivatives, args, outputs):
    """The tangents of the outputs, by the operator's JVP."""
    jvp = derivatives.jvp
    if jvp == LINEAR:
        return op(*linear_arguments(derivatives, args))
    if jvp == MULTILINEAR:
        return total(multilinear_terms(op, derivatives, args))
    if jvp == ELEMENTWISE:
        return expanded(total(elementwise_terms(derivatives, args, outputs)), outputs[0])
    if jvp is None:
        raise NotImplementedError(f"Trying to use forward AD with {op.name} that does not support it because it has "
                                  "not been implemented yet.")
    return jvp(*[named_value(name, derivatives, args, outputs) for name in parameter_names(jvp)])


def parameter_names(function):
    """The names of a function's arguments."""
    return function.__code__.co_varnames[:function.__code__.co_argcount]


def named_value(name, derivatives, args, outputs):
    """What a JVP formula's parameter stands for: an argument, an output, or `<argument>_t`, a tangent."""
    if name.endswith("_t") and name[:-2] in derivatives.arguments:
        return tangents_in(args[derivatives.arguments[name[:-2]]])
    if name in derivatives.outputs:
        return outputs[derivatives.outputs[name]]
    return primal_of(args[derivatives.arguments[name]])


def primal_of(value):
    """An argument without its tangent, still part of the graph: formulas compute with plain values."""
    if value.__class__ in (list, tuple):
        return type(value)(primal_of(v) for v in value)
    return value if tangent_of(value) is None else unpack_dual(value).primal


def tangents_in(value):
    """The tangent of an argument; of a list, that of each tensor in it."""
    if value.__class__ in (list, tuple):
        return [tangent_of(v) for v in value]
    return tangent_of(value)


def tangent_or_zero(value):
    """An argument's tangent; zeros like it if it has none; 0 for a number."""
    if value.__class__ in (list, tuple):
        return type(value)(tangent_or_zero(v) for v in value)
    if not isinstance(value, Tensor):
        return None if value is None else 0
    tangent = tangent_of(value)
    return value.new_zeros(value._shape) if tangent is None else tangent


def linear_arguments(derivatives, args):
    """The arguments, tangents in place of the differentiable ones: linear operators map tangents as they map values."""
    return [tangent_or_zero(a) if i in derivatives.positions else primal_of(a) for i, a in enumerate(args)]


def multilinear_terms(op, derivatives, args):
    """For each argument that has a tangent, the operator's result with the tangent in its place: the product rule."""
    for position in derivatives.positions:
        if has_tangent((args[position],)):
            primals = [primal_of(a) for a in args]
            yield op(*primals[:position], tangent_or_zero(args[position]), *primals[position + 1:])


def elementwise_terms(derivatives, args, outputs):
    """For each argument that has a tangent, its VJP formula applied to the tangent: the Jacobian is diagonal."""
    for formula in derivatives.formulas:
        tangent = tangent_of(args[formula.positions[0]])
        if tangent is not None:
            yield formula.fn(tangent, *[value_for(name, derivatives, args, outputs) for name in formula.names])


def value_for(name, derivatives, args, outputs):
    """What a VJP formula's parameter stands for, from the arguments without their tangents."""
    kind, index = derivatives.source(name)
    if kind == ARGUMENT:
        return primal_of(args[index])
    return outputs[index] if kind == RESULT else describe(args[index], kind)


def total(terms):
    """The sum of all terms; None if there is none."""
    found = None
    for term in terms:
        found = term if found is None else found + term
    return found


def expanded(tangent, out):
    return tangent if tangent._shape == out._shape else tangent.expand(out._shape)
