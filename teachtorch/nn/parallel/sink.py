"""A node behind all outputs of a forward: when backward begins, it knows which of them the loss uses."""

from ...autograd import Function
from ...tensor import Tensor
from ...utils._pytree import tree_flatten, tree_unflatten


class _DDPSink(Function):
    """Hands outputs and gradients on, and tells the reducer which outputs have a gradient."""

    @staticmethod
    def forward(ctx, reducer, with_graphs, *outputs):
        ctx.set_materialize_grads(False)
        ctx.reducer, ctx.pass_number, ctx.outputs = reducer, reducer.passes, with_graphs
        return outputs

    @staticmethod
    def backward(ctx, *grads):
        if ctx.pass_number == ctx.reducer.passes:
            used = [output for output, grad in zip(ctx.outputs, grads) if grad is not None]
            ctx.reducer.loss_uses(used)
        return None, None, *grads


def above_a_sink(outputs, reducer):
    """The outputs of a forward, nested as they are, with one _DDPSink behind those that require grad."""
    leaves, spec = tree_flatten(outputs)
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor) and leaf.requires_grad]
    tensors = [leaves[i] for i in places]
    for i, found in zip(places, _DDPSink.apply(reducer, tensors, *tensors) if tensors else ()):
        leaves[i] = found
    return tree_unflatten(leaves, spec)
