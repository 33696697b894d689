"""Full backward hooks of a module: called with the gradients of its inputs and of its outputs.

A module is no node of the graph; its forward may leave many nodes or none. So the tensors that go in and those that
come out each pass through a node of their own, which changes nothing, and the hooks are attached to those two:

    inputs -> [input node] -> forward -> [output node] -> outputs
    grad_input <- post-hook of the input node          grad_output <- post-hook of the output node
https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
"""
import warnings

from ..autograd.meta import gradient_source, set_history, tracks
from ..autograd.node import InputMetadata, Node
from ..autograd.views import CUSTOM_FUNCTION
from ..dispatch.state import state
from ..ops.declare import exports
from ..tensor import Tensor, ViewMeta, alias, counter_of, stride_of

zeros = exports[""]["zeros"]

NO_INPUT_GRADIENT = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details.")
NO_TENSOR_OUTPUT = ("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                    "received {}")


class BackwardHookFunctionBackward(Node):
    """Hands every gradient on; an undefined one as zeros."""

    __slots__ = ()

    def apply(self, grads):
        return [zeros(meta.shape, dtype=meta.dtype, device=meta.device) if grad is None else grad
                for grad, meta in zip(grads, self.input_metadata)]


def passed_through(tensors):
    """(the node, views of the tensors that are its outputs). A view may not be changed in place, as the node would
    not notice."""
    node = BackwardHookFunctionBackward(tuple([gradient_source(t) for t in tensors]))
    views = [whole_view(t) for t in tensors]
    node.input_metadata = [InputMetadata(v) for v in views]
    for i, (t, view) in enumerate(zip(tensors, views)):
        if tracks(t):
            set_history(view, node, i)
    return node, views


def whole_view(t):
    view = alias(t, t._shape, stride_of(t), t._offset)
    root = t if t._view is None else t._view.base
    view._view = ViewMeta(root, counter_of(view).value, CUSTOM_FUNCTION)
    return view


class BackwardHooks:
    """The full backward hooks of one call of a module.

    `grad_outputs` waits, between the output node and the input node, for the hooks to be called with both.
    """

    def __init__(self, module, hooks, pre_hooks):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs = None
        self.inputs = self.outputs = None           # where among the arguments and results the tensors are
        self.input_count = self.output_count = 0

    def watch_inputs(self, args):
        """The arguments, tensors replaced by views whose gradient reaches the hooks."""
        self.input_count = len(args)
        args, self.inputs = self._watch(args, self._inputs_done)
        return args

    def watch_outputs(self, result):
        """The module's result, tensors replaced likewise."""
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(NO_TENSOR_OUTPUT.format(type(result)), stacklevel=4)
        outputs = result if isinstance(result, tuple) else (result,)
        self.output_count = len(outputs)
        outputs, self.outputs = self._watch(outputs, self._outputs_done)
        return outputs if isinstance(result, tuple) else outputs[0]

    @staticmethod
    def _watch(values, post_hook):
        where = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
        if not (state.grad_enabled and any(tracks(values[i]) for i in where)):
            return values, None
        node, views = passed_through([values[i] for i in where])
        node.register_hook(post_hook)
        replaced = dict(zip(where, views))
        watched = [replaced.get(i, v) for i, v in enumerate(values)]
        return (tuple(watched) if type(values) is tuple else type(values)(*watched)), where

    def _outputs_done(self, _, grads):
        """Post-hook of the output node: pre-hooks now, the hooks too if no gradient will reach the inputs."""
        self.grad_outputs = spread(grads, self.outputs, self.output_count)
        for hook in self.pre_hooks:
            changed = hook(self.module, self.grad_outputs)
            if changed is not None:
                check_count(changed, self.grad_outputs, "Backward pre hook", "grad_output")
                self.grad_outputs = changed
        grad_outputs = self.grad_outputs
        if self.inputs is None:
            self._call_without_inputs()
        return tuple([grad_outputs[i] for i in self.outputs])

    def _call_without_inputs(self):
        warnings.warn(NO_INPUT_GRADIENT, stacklevel=2)
        for hook in self.hooks:
            changed = hook(self.module, (None,) * self.input_count, self.grad_outputs)
            if changed is not None and not (isinstance(changed, tuple) and all(g is None for g in changed)):
                raise RuntimeError("Backward hook for Modules where no input requires gradient should always return "
                                   "None or None for all gradients.")
        self.grad_outputs = None

    def _inputs_done(self, grads, _):
        """Post-hook of the input node: both sides are known."""
        if self.grad_outputs is None:               # the gradient came past the outputs, as in double backward
            return None
        grad_inputs = spread(grads, self.inputs, self.input_count)
        for hook in self.hooks:
            changed = hook(self.module, grad_inputs, self.grad_outputs)
            if changed is not None:
                check_count(changed, grad_inputs, "Backward hook", "grad_input")
                grad_inputs = changed
        self.grad_outputs = None
        return tuple([grad_inputs[i] for i in self.inputs])


def spread(grads, where, count):
    """The gradients at the places of their tensors, None for what is no tensor."""
    spread_out = [None] * count
    for i, grad in zip(where, grads):
        spread_out[i] = grad
    return tuple(spread_out)


def check_count(changed, expected, who, what):
    if len(changed) != len(expected):
        raise RuntimeError(f"{who} returned an invalid number of {what}, got {len(changed)}, but expected "
                           f"{len(expected)}")
