"""Autograd kernels written out for one operator, as PyTorch generates VariableType.cpp from derivatives.yaml.

record.py holds the general kernel, the one to read; this module makes, from the operator's argument names, a function
that does the same for the usual call: no lists among the differentiable arguments, nobody observing kernels, no dual
level open. Everything else it hands to the general kernel. `Operator.kernels[AUTOGRAD].source` is its text.
"""
from ..core import observer
from ..core.generated import function_from
from ..dispatch.keys import BELOW_AUTOGRAD, FORWARD_AD
from ..tensor import Tensor
from .meta import AutogradMeta
from .node import InputMetadata
from .views import refresh

# The kernels' own names start with _, since an operator's arguments may be called anything else.
HEAD = """\
def {name}_autograd(_keys, {arguments}):
    if observer.sees_kernels or _keys & FORWARD_AD:
        return general(_keys, {arguments})
    _mask = 0
    {sources} = None
    _has_number = False
"""
ARGUMENT = """\
    if isinstance({argument}, Tensor):
        if {argument}._view is not None:
            refresh({argument})
        _meta = {argument}._meta
        if _meta is not None and _meta.requires_grad:
            _mask |= {bit}
            source{slot} = {argument} if _meta.grad_fn is None else (_meta.grad_fn, _meta.output_nr)
    elif {argument}.__class__ in SEQUENCES:
        return general(_keys, {arguments})
"""
NUMBER = """\
    elif {argument} is not None:
        _has_number = True
"""
TAIL = """\
    _keys &= BELOW_AUTOGRAD
    _results = (chosen.get(_keys) or choose(_keys))(_keys, {arguments})
    if _mask:
        if isinstance(_results, Tensor) and not _has_number:
            attach_one(_results, node_class, plans.get(_mask) or plan(_mask), ({sources},), ({arguments},))
        else:
            attach(_results, derivatives, _mask, ({arguments},))
    return _results
"""


def specialised_kernel(op, derivatives, general, attach):
    """The kernel of `op` for the usual call; `general` and `attach` are record.py's."""
    source = source_of(op.name, list(derivatives.arguments), derivatives.positions, derivatives.wraps_numbers)
    scope = {"observer": observer, "FORWARD_AD": FORWARD_AD, "BELOW_AUTOGRAD": BELOW_AUTOGRAD, "Tensor": Tensor,
             "SEQUENCES": (list, tuple), "refresh": refresh, "general": general, "attach": attach,
             "attach_one": attach_one, "chosen": op._chosen, "choose": op.choose, "derivatives": derivatives,
             "plans": derivatives._plans, "plan": derivatives.plan, "node_class": derivatives.node_class}
    return function_from(source, identifier(op.name) + "_autograd", f"Autograd kernel of {op.name}", scope)


def source_of(name, arguments, positions, wraps_numbers):
    """The kernel's text."""
    listed = ", ".join(arguments)
    sources = [f"source{slot}" for slot in range(len(positions))]
    text = HEAD.format(name=identifier(name), arguments=listed, sources=" = ".join(sources))
    for slot, position in enumerate(positions):
        text += ARGUMENT.format(argument=arguments[position], arguments=listed, bit=1 << slot, slot=slot)
        if not wraps_numbers:
            text += NUMBER.format(argument=arguments[position], slot=slot)
    return text + TAIL.format(arguments=listed, sources=", ".join(sources))


def identifier(name):
    return name.replace(".", "_")


def attach_one(out, node_class, plan, sources, args):
    """Make `out` the one output of a new node, unless it is not floating."""
    if not out._dtype.is_floating_point:
        return
    node = node_class(plan, sources, None)
    node.saved = plan.save(args, (out,))
    node.input_metadata = (InputMetadata(out),)
    meta = out._meta
    if meta is None:
        meta = out._meta = AutogradMeta()
    meta.requires_grad = True
    meta.grad_fn = node
    meta.output_nr = 0
    if observer.active:
        observer.report("node", node=node)
