"""`backward` and `grad`: what users call to run the engine."""
import math
import warnings
from collections.abc import Mapping

import numpy as np

from ..core.once import warn_once
from ..dispatch.keys import PYTHON
from ..dispatch.operator import registry
from ..dispatch.state import state
from ..tensor import Size, Tensor, from_array, method
from .engine import run_backward
from .meta import grad_fn_of, gradient_edge, tracks
from .node import GradientEdge, Node


REFERENCE_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
    "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the "
    "cycle and avoid the leak.")


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Add the gradients of `tensors` to the `.grad` of the leaves they were computed from (torch.autograd.backward).

    `grad_tensors`: one gradient per tensor, of its shape; None for a single-element tensor means 1. `inputs`: fill
    these tensors' `.grad` and no others'. RuntimeError if a tensor has no graph, or its graph was freed.
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
                "Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    tensors = as_tuple(tensors)
    grads = starting_gradients(tensors, as_tuple(grad_tensors, len(tensors)))
    keep_graph = create_graph if retain_graph is None else retain_graph
    if create_graph:
        warn_once("create_graph", REFERENCE_CYCLE)
    edges = edges_of(tensors)
    if inputs is None:
        run_backward(edges, grads, keep_graph, create_graph)
        return
    inputs = as_tuple(inputs)
    if not inputs:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    targets = retaining_edges(inputs)
    run_backward(edges, grads, keep_graph, create_graph, targets, accumulate_targets=targets)


def retaining_edges(inputs):
    """The edges of backward's `inputs`. Leaves accumulate in their node; the others retain their gradient."""
    for t in inputs:
        if isinstance(t, Tensor):
            grad_fn_of(t)
            t.retain_grad()
    return [edge for edge in map(edge_of, inputs) if edge is not None]


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True,
         allow_unused=None, is_grads_batched=False, materialize_grads=False):
    """The gradients of `outputs` with respect to `inputs`, as a tuple; no `.grad` changes (torch.autograd.grad).

    `inputs`: tensors or edges, or a dict of them, such as dict(model.named_parameters()), for a dict of gradients.
    An input that the outputs do not depend on is a RuntimeError, unless `allow_unused` (None) or
    `materialize_grads` (zeros).
    """
    if isinstance(inputs, Mapping):
        return grad_by_name(outputs, inputs, grad_outputs, retain_graph, create_graph, only_inputs, allow_unused,
                            is_grads_batched, materialize_grads)
    outputs, inputs = as_tuple(outputs), inputs_of(inputs)
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient "
            "for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, "
                         "but got: allow_unused=False.")
    if not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    grads = as_tuple(grad_outputs, len(outputs))
    keep_graph = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        return _grad_of_batch(outputs, inputs, grads, allow_unused, materialize_grads)
    starts = starting_gradients(outputs, grads)
    targets = [target_of(t) for t in inputs]
    captured = run_backward(edges_of(outputs), starts, keep_graph, create_graph, targets)
    found = [captured.get(target) for target in targets]
    if materialize_grads:
        return tuple(zeros_for(t) if g is None else g for g, t in zip(found, inputs))
    for i, g in enumerate(found):
        if g is None and not allow_unused:
            raise RuntimeError(f"The differentiated Tensor at index {i} appears to not have been used in the graph. "
                               "Set allow_unused=True if this is the desired behavior.")
    return tuple(found)


def grad_by_name(outputs, inputs, *options):
    """`grad` for a dict of inputs: a dict of gradients under the same names. TypeError for other mappings."""
    if type(inputs) is not dict:
        raise TypeError(f"`inputs` argument to `grad()` must be a dict, not {type(inputs).__name__}. "
                        "Other Mapping types are not supported.")
    return dict(zip(inputs, grad(outputs, tuple(inputs.values()), *options)))


def inputs_of(inputs):
    """What to differentiate by, as a tuple. TypeError or RuntimeError for anything but tensors and edges."""
    inputs = (inputs,) if isinstance(inputs, (Tensor, GradientEdge)) else tuple(inputs)
    for t in inputs:
        if not isinstance(t, (Tensor, GradientEdge)):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
    return inputs


def check_batch(outputs, grads):
    """is_grads_batched: each gradient has a first dimension in front of its output's shape."""
    for i, (out, g) in enumerate(zip(outputs, grads)):
        if g is None:
            g = implicit_gradient(out)
        if not g._shape:
            raise ValueError(
                "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor "
                "of dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0."
            )
        if g._shape[1:] != out._shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the "
                "batch dimension. The sizes of the remaining dimensions are expected to match the shape of "
                f"corresponding output, but a mismatch was detected: grad_output[{i}] has a shape of "
                f"{g.shape} and output[{i}] has a shape of {out.shape}. If you only want some tensors in "
                "`grad_output` to be considered batched, consider using vmap."
            )


def _grad_of_batch(outputs, inputs, grads, allow_unused, materialize_grads):
    """is_grads_batched: one backward per row of the gradients, stacked. The graph is kept between the rows."""
    check_batch(outputs, grads)
    rows = [grad(outputs, inputs, [g[i] for g in grads], retain_graph=True, allow_unused=allow_unused,
                 materialize_grads=materialize_grads) for i in range(grads[0]._shape[0])]
    return tuple(None if column[0] is None else stacked(column) for column in zip(*rows))


def stacked(tensors):
    """The tensors side by side in a new first dimension. This floor knows operators by name alone."""
    return registry["stack"](list(tensors), 0)


def zeros_for(t):
    """Zeros like a tensor, or like what arrives at an edge."""
    if isinstance(t, GradientEdge):
        metadata = metadata_of(t)
        return from_array(np.zeros(metadata.shape, metadata.dtype.numpy))
    return registry["zeros_like"].info.public(t)


def metadata_of(edge):
    return edge.node.input_metadata[edge.output_nr]


def edge_of(t):
    """(node, input_nr) of a tensor or a GradientEdge; None if no gradient flows."""
    return tuple(t[:2]) if isinstance(t, GradientEdge) else gradient_edge(t)


def target_of(t):
    """The edge of a tensor to differentiate by; one that nothing leads to, if no gradient reaches the tensor."""
    if isinstance(t, GradientEdge):
        return edge_of(t)
    if not tracks(t):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return gradient_edge(t) or (Node(), 0)


def as_tuple(value, length=1):
    """A tuple of what may be one tensor, a sequence, or None."""
    if value is None:
        return (None,) * length
    return (value,) if isinstance(value, (Tensor, GradientEdge)) else tuple(value)


def edges_of(tensors):
    edges = []
    for i, t in enumerate(tensors):
        edge = edge_of(t)
        if edge is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        edges.append(edge)
    return edges


def starting_gradients(outputs, grads):
    """The gradient to start each output with. RuntimeError where it is missing or of the wrong shape."""
    for out in outputs:
        if not isinstance(out, (Tensor, GradientEdge)):
            raise AssertionError("Expected output to be a torch.Tensor")
    if len(grads) < len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    return [implicit_gradient(out) if g is None else checked_gradient(out, g, i)
            for i, (out, g) in enumerate(zip(outputs, grads))]


def implicit_gradient(out):
    if isinstance(out, GradientEdge):
        return implicit_gradient_at(metadata_of(out))
    if not tracks(out):
        return None
    if out._shape and out.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if not out._dtype.is_floating_point:
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {out._dtype}")
    if out._keys & PYTHON or state.dispatch_modes:
        return registry["ones_like"].info.public(out)
    return from_array(np.ones(out._shape, out._dtype.numpy)) if out.is_cpu else out.new_ones(out._shape)


def implicit_gradient_at(metadata):
    if math.prod(metadata.shape) != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return from_array(np.ones(metadata.shape, metadata.dtype.numpy))


def checked_gradient(out, g, i):
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    shape = Size(metadata_of(out).shape) if isinstance(out, GradientEdge) else out.shape
    if g._shape != shape:
        raise RuntimeError(f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a "
                           f"shape of {shape}.")
    return g


def _tensor_backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Compute the gradients of this tensor with respect to the leaves (torch.Tensor.backward).

    `gradient`: of this tensor's shape; may be left out for a single element. `retain_graph`: keep saved tensors for
    another backward. `create_graph`: make the gradients differentiable.
    """
    if gradient is None and inputs is None and not create_graph:
        start = implicit_gradient(self)
        run_backward(edges_of((self,)), [start], bool(retain_graph), False)
    else:
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)


method(_tensor_backward, "backward")
