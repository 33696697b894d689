"""A captured forward and backward as one autograd Function."""
from ..autograd import Function, no_grad
from ..dispatch.state import state
from ..nn.hooks import replacing_forward
from ..ops.declare import exports
from .partition import partition

empty = exports[""]["empty"]

DOUBLE = ("torch.compile with aot_autograd does not currently support double backward: the backward of a "
          "compiled function is compiled too, and has no graph. Run the function itself where you need "
          "second derivatives")


class Refusal(Function):
    """Passes gradients on; asked for gradients of its own, it refuses."""

    @staticmethod
    def forward(ctx, *tensors):
        return tuple([t.detach() for t in tensors])

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError(DOUBLE)


class Training:
    """Both graphs of one capture. Call it with the inputs and held tensors: results that gradients flow through."""

    def __init__(self, captured, make):
        forward_graph, backward_graph, count = partition(captured)
        self.kept_inputs = kept_inputs(forward_graph, count)
        self.forward = make(forward_graph, "forward")
        self.backward = make(backward_graph, "backward")
        self.count = captured.count
        self.function = function_of(self, captured)

    def __call__(self, *tensors):
        return self.function.apply(*tensors)


def function_of(training, captured):
    """The autograd Function: forward keeps what partition chose."""
    count, wanted = captured.count, captured.wanted
    without_gradient = [i for i in range(count) if i not in captured.differentiable]

    class CompiledFunction(Function):
        is_internal = True

        @staticmethod
        def forward(ctx, *tensors):
            found = training.forward(*tensors)
            kept = [tensors[k] if k is not None else t for t, k in zip(found[count:], training.kept_inputs)]
            ctx.save_for_backward(*kept)
            ctx.mark_non_differentiable(*[found[i] for i in without_gradient])
            ctx.inputs = len(tensors)
            return tuple(found[:count])

        @staticmethod
        def backward(ctx, *grads):
            tangents = [grads[i] for i in captured.differentiable]
            found = run_backward(training, [*ctx.saved_tensors, *tangents])
            by_place = dict(zip(wanted, found))
            return tuple([by_place.get(i) for i in range(ctx.inputs)])

    return CompiledFunction


def kept_inputs(graph, count):
    """For each of the last `count` outputs of a graph: which input it is, or None."""
    inputs = [n for n in graph.nodes if n.op == "placeholder"]
    outputs = graph.output_node().args[0]
    return [inputs.index(n) if n in inputs else None for n in outputs[len(outputs) - count:]]


def run_backward(training, tensors):
    """The gradients; if autograd records backward itself, they refuse to be differentiated."""
    is_recorded = state.grad_enabled
    with no_grad(), replacing_forward(None):        # what a backend made may be a module, and is no model of the user's
        found = list(training.backward(*tensors))
    if not is_recorded:
        return found
    recorded = [t for t in tensors if t.requires_grad]
    return refusing(found, recorded or [empty(0).requires_grad_()])


def refusing(found, recorded):
    """The gradients with a node that refuses in their history."""
    present = [g for g in found if g is not None]
    passed = iter(Refusal.apply(*present, *recorded)[:len(present)])
    return [None if g is None else next(passed) for g in found]
