"""Backward on arrays, written out for one plan, as PyTorch generates Functions.cpp from derivatives.yaml.

`OperatorNode.apply` runs a node's formulas on tensors, through the dispatcher; that is the one to read. Where all
formulas of a plan have a twin on ndarrays, this module makes a function from them that a plain backward of small CPU
tensors takes instead. It answers None, before anything has happened, for whatever else; `function.source` is its text.
"""
from numpy import asarray, ndarray

from ..core.generated import function_from
from ..dispatch.keys import AD_INPLACE_OR_VIEW, AUTOGRAD, CPU
from ..tensor import array_of, from_array
from .saved import Saved, SavedTensor

PLAIN_CPU = CPU | AD_INPLACE_OR_VIEW | AUTOGRAD
FEW = 1 << 14                    # so many elements NumPy handles as quickly as a compiled loop

HEAD = """\
def {name}_on_arrays(node, grad):
    saved = node.saved
    if grad._keys != PLAIN_CPU or saved.__class__ is tuple:
        return None
    grad_array = array_of(grad)
    if grad_array.size > FEW:
        return None
"""
TENSOR = """\
    saved_{name} = saved[{place}]
    if saved_{name}.__class__ is SavedTensor:
        tensor = saved_{name}.tensor
        if tensor._keys != PLAIN_CPU or tensor._counter is not None and tensor._counter.value != saved_{name}.version:
            return None
        saved_{name} = array_of(tensor)
        if is_ordered_otherwise(saved_{name}, grad_array):
            return None
    elif isinstance(saved_{name}, Saved):
        return None
"""
OTHER = """\
    saved_{name} = saved[{place}]
"""
STEP = """\
    found{slot} = formula{slot}(grad_array{values})
    if found{slot} is NotImplemented:
        return None
"""
RESULT = "grad if found{slot} is grad_array else tensor_of(found{slot})"


def function_of(plan, name, tensor_places):
    """The function of (node, gradient) that returns the gradients by slot, or None.

    `tensor_places`: where, among the saved values, tensors may stand.
    """
    scope = {"PLAIN_CPU": PLAIN_CPU, "FEW": FEW, "SavedTensor": SavedTensor, "Saved": Saved, "array_of": array_of,
             "tensor_of": tensor_of, "is_ordered_otherwise": is_ordered_otherwise}
    scope |= {f"formula{slot}": formula for formula, _, slot in plan.array_steps}
    return function_from(source_of(plan, name, tensor_places), f"{name}_on_arrays", f"{name} on arrays", scope)


def source_of(plan, name, tensor_places):
    """The function's text."""
    text = HEAD.format(name=name)
    for place, saved in enumerate(plan.names):
        text += (TENSOR if place in tensor_places else OTHER).format(name=saved, place=place)
    results = ["None"] * plan.width
    for _, wanted, slot in plan.array_steps:
        text += STEP.format(slot=slot, values="".join([f", saved_{plan.names[place]}" for place in wanted]))
        results[slot] = RESULT.format(slot=slot)
    return text + f"    return [{', '.join(results)}]\n"


def tensor_of(found):
    return from_array(found if found.__class__ is ndarray else asarray(found))


def is_ordered_otherwise(array, grad):
    """Whether an operand's elements lie in another order than the gradient's: NumPy then chooses its own for the
    product, where PyTorch follows the gradient."""
    strides = grad.strides
    if len(strides) < 2 or array.strides == strides or array.shape != grad.shape:
        return False
    return not (array.flags.c_contiguous and (grad.flags.c_contiguous or not any(strides)))
