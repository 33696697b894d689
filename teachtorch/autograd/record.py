"""The Autograd kernels: run the operator below autograd, and leave a node behind if a gradient will be wanted."""
from ..core import observer
from ..core import dtype as dt
from ..dispatch.keys import BELOW_AUTOGRAD
from ..dispatch.state import state
from ..tensor import Tensor
from .forward_ad import change_tangent, has_tangent, push_tangents, tangent_after
from .meta import set_history, tracks
from .node import InputMetadata
from .operator_node import collect_sources
from .saved import results_in_view
from .specialise import specialised_kernel
from .views import check_inplace, follow_base, rebase_history


def requires_grad_mask(positions, args):
    """Bit i: the i-th differentiable argument (or a tensor of it, if it is a list) requires grad."""
    mask, bit = 0, 1
    for position in positions:
        a = args[position]
        if isinstance(a, Tensor):
            if a._view is not None:
                follow_base(a)
            meta = a._meta
            if meta is not None and meta.requires_grad:
                mask |= bit
        elif a.__class__ in (list, tuple) and any([isinstance(v, Tensor) and tracks(v) for v in a]):
            mask |= bit
        bit <<= 1
    return mask


def functional_kernel(op, derivatives):
    """The Autograd kernel of an operator that returns new tensors or views.

    `autograd` is what it does; specialise.py writes the same out for the operator's usual call.
    """
    positions, redispatch = derivatives.positions, op.redispatch

    def autograd(keys, *args):
        mask = requires_grad_mask(positions, args)
        results = redispatch(keys & BELOW_AUTOGRAD, *args)
        if mask and state.grad_enabled:
            attach(results, derivatives, mask, args)
        if state.forward_ad and has_tangent(args):
            push_tangents(op, derivatives, args, results)
        return results

    return specialised_kernel(op, derivatives, autograd, attach)


def attach(results, derivatives, mask, args):
    """Make the results the outputs of a new node. Results that are not floating stay outside the graph."""
    outputs = (results,) if isinstance(results, Tensor) else results
    differentiable = [out for out in outputs if out._dtype.is_floating_point]
    if not differentiable:
        return
    plan = derivatives.plan(mask)
    node = derivatives.node_class(plan, *collect_sources(derivatives.positions, args, derivatives.wraps_numbers))
    node.saved = plan.save(args, outputs)
    node.input_metadata = [InputMetadata(out) for out in differentiable]
    for i, out in enumerate(differentiable):
        set_history(out, node, i)
    if observer.active:
        observer.report("node", node=node)


def inplace_kernel(op, derivatives):
    """The Autograd kernel of an operator that changes its first argument."""
    needs_original = [any("self" in f.names for f in derivatives.formulas if slot in
                          [derivatives.slot_of[p] for p in f.positions]) for slot in range(len(derivatives.positions))]

    def recorded(keys, *args):
        mask = requires_grad_mask(derivatives.positions, args) if state.grad_enabled else 0
        target = args[0]
        if not mask or target._dtype.category != dt.FLOATING:
            return op.redispatch(keys & BELOW_AUTOGRAD, *args)
        check_inplace(target)
        kept = args
        if any(mask >> slot & 1 for slot, wanted in enumerate(needs_original) if wanted):
            kept = (target.clone(), *args[1:])     # the formula wants the value that is about to be overwritten
        node = derivatives.node_class(derivatives.plan(mask),
                                      *collect_sources(derivatives.positions, args, derivatives.wraps_numbers))
        node.saved = node.plan.save(kept, None)
        op.redispatch(keys & BELOW_AUTOGRAD, *args)
        node.plan.save_results(node.saved, (target,))
        node.input_metadata = [InputMetadata(target)]
        copy_slices = rebase_history(target, node)
        if copy_slices is not None:
            node.saved = results_in_view(node.saved, copy_slices)
        return target

    def autograd(keys, *args):
        if not (state.forward_ad and has_tangent(args)):
            return recorded(keys, *args)
        tangent = tangent_after(op, args)              # before the value changes
        recorded(keys, *args)
        change_tangent(args[0], tangent)
        return args[0]

    return autograd
