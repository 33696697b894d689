"""Derivatives of functions: vjp, jvp, jacobian, hessian, vhp, hvp (torch.autograd.functional).

`func` takes tensors and returns a tensor or a tuple of tensors; what is returned has the structure of what was given.
`create_graph`: the results are differentiable. `strict`: an output that does not depend on an input is a RuntimeError
instead of a zero. https://pytorch.org/docs/stable/autograd.html#functional-higher-level-api
"""
from ..dispatch.operator import registry
from ..tensor import Tensor
from . import forward_ad
from .api import grad, stacked
from .grad_mode import enable_grad

OUTPUTS = "outputs of the user-provided function"


def as_tuple(values, what, caller):
    """(tuple of tensors, whether it was one already). TypeError for anything else."""
    is_tuple = isinstance(values, tuple)
    values = values if is_tuple else (values,)
    for i, t in enumerate(values):
        if not isinstance(t, Tensor):
            which = f"value at index {i}" if is_tuple else f"given {what}"
            raise TypeError(
                f"The {what} given to {caller} must be either a Tensor or a tuple of Tensors but the {which} "
                f"has type {type(t)}."
            )
    return values, is_tuple


def unwrap(values, is_tuple):
    return tuple(values) if is_tuple else values[0]


def zeros_like(t):
    return registry["zeros_like"].info.public(t)


def ones_like(t):
    return registry["ones_like"].info.public(t)


def prepared(inputs, create_graph):
    """The inputs as fresh points of a graph: connected to the old one only if the results must be."""
    return tuple(t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_() for t in inputs)


def evaluated(func, inputs, caller, create_graph, strict):
    """(differentiable inputs, outputs, whether the outputs are a tuple)."""
    points = prepared(inputs, create_graph)
    outputs, is_tuple = as_tuple(func(*points), OUTPUTS, caller)
    if strict:
        require_tracked(outputs, UNTRACKED_OUTPUT)
    return points, outputs, is_tuple


# ---- strict mode ----------------------------------------------------------------------------------------------------

UNTRACKED_OUTPUT = (
    "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode."
)
UNTRACKED_GRADIENT = (
    "The gradient with respect to input {} is independent of the inputs of the user-provided function. "
    "This is not allowed in strict mode."
)
UNTRACKED_JACOBIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is "
    "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example)."
)
MISSING = "The output of the user-provided function is independent of input {}. This is not allowed in strict mode."
MISSING_SECOND = (
    "The jacobian of the user-provided function is independent of input {}. This is not allowed in strict mode."
)
MISSING_START = (
    "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the double backward "
    "trick to compute forward mode gradients. This is not allowed in strict mode."
)


def require_tracked(tensors, message):
    """RuntimeError unless all tensors are there and require grad."""
    for i, t in enumerate(tensors):
        if t is None:
            raise RuntimeError(MISSING.format(i))
        if not t.requires_grad:
            raise RuntimeError(message.format(i))


def filled(gradients, like, strict, message):
    """Zeros where a gradient is missing; an error if `strict`."""
    for i, g in enumerate(gradients):
        if g is None and strict:
            raise RuntimeError(message.format(i))
    return [zeros_like(t) if g is None else g for g, t in zip(gradients, like)]


# ---- vectors and gradients ---------------------------------------------------------------------------------

def checked_vectors(v, tensors, is_tuple, caller, what):
    """The given v as a tuple that fits the tensors; may be None for a single one-element tensor."""
    if v is None:
        if len(tensors) != 1 or tensors[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {what} a single Tensor with a single element.")
        return tuple(ones_like(t) for t in tensors)
    vectors, _ = as_tuple(v, "v", caller)
    if len(vectors) != len(tensors):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(tensors)} but got {len(vectors)}."
                           if is_tuple else "The given v should contain a single Tensor.")
    for i, (vector, t) in enumerate(zip(vectors, tensors)):
        if vector.shape != t.shape:
            raise RuntimeError((f"Entry {i} in " if is_tuple else "")
                               + f"v has invalid size: should be {t.size()} but got {vector.size()}.")
    return vectors


OF_OUTPUT = "the user-provided function returns"
OF_INPUT = "the input to the user-provided function is"


def gradients_of(outputs, points, starts, create_graph, retain_graph=None):
    """`grad` that yields None for outputs without a graph."""
    tracked = [(o, s) for o, s in zip(outputs, starts) if o is not None and o.requires_grad]
    if not tracked:
        return [None] * len(points)
    return grad([o for o, _ in tracked], points, [s for _, s in tracked], allow_unused=True, create_graph=create_graph,
                retain_graph=retain_graph)


def detached(values, create_graph):
    return [t if create_graph else t.detach() for t in values]


# ---- products ----------------------------------------------------------------------------------------------

@enable_grad()
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), vᵀJ): the product of v, shaped like the output, with the Jacobian."""
    inputs, is_tuple = as_tuple(inputs, "inputs", "vjp")
    points, outputs, outputs_tuple = evaluated(func, inputs, "vjp", create_graph, strict)
    vectors = checked_vectors(v, outputs, outputs_tuple, "vjp", OF_OUTPUT)
    found = filled(gradients_of(outputs, points, vectors, create_graph), points, strict, MISSING)
    return unwrap(detached(outputs, create_graph), outputs_tuple), unwrap(detached(found, create_graph), is_tuple)


@enable_grad()
def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), Jv), by differentiating vᵀJ, which is linear in v, once more (the "double backward trick")."""
    inputs, is_tuple = as_tuple(inputs, "inputs", "jvp")
    vectors = checked_vectors(v, inputs, is_tuple, "jvp", OF_INPUT)
    points, outputs, outputs_tuple = evaluated(func, inputs, "jvp", create_graph, strict)
    starts = tuple(zeros_like(o).requires_grad_() for o in outputs)
    products = gradients_of(outputs, points, starts, True)
    if strict:
        require_tracked(products, UNTRACKED_GRADIENT)
    found = filled(gradients_of(products, starts, vectors, create_graph), outputs, strict, MISSING_START)
    return unwrap(detached(outputs, create_graph), outputs_tuple), unwrap(detached(found, create_graph), outputs_tuple)


def single_element(func, caller):
    """The function, checked to return one tensor with one element, as a 0-dim tensor."""
    def checked(*args):
        out = func(*args)
        outputs, is_tuple = as_tuple(out, OUTPUTS, caller)
        if is_tuple:
            raise RuntimeError(f"The function given to {caller} should return a single Tensor")
        if out.numel() != 1:
            raise RuntimeError(f"The Tensor returned by the function given to {caller} should contain a single element")
        return out.squeeze()
    return checked


def second_product(func, inputs, v, caller, create_graph, strict):
    """(func(*inputs), vᵀH). H is symmetric: this is Hv, too."""
    inputs, is_tuple = as_tuple(inputs, "inputs", caller)
    vectors = checked_vectors(v, inputs, is_tuple, caller, OF_INPUT)
    points, outputs, _ = evaluated(single_element(func, caller), inputs, caller, create_graph, strict)
    first = gradients_of(outputs, points, [ones_like(outputs[0])], True)
    if strict:
        require_tracked(first, UNTRACKED_JACOBIAN)
    found = filled(gradients_of(first, points, vectors, create_graph), points, strict, MISSING_SECOND)
    return detached(outputs, create_graph)[0], unwrap(detached(found, create_graph), is_tuple)


@enable_grad()
def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), vᵀH): the product of v, shaped like the inputs, with the Hessian of a one-element output."""
    return second_product(func, inputs, v, "vhp", create_graph, strict)


@enable_grad()
def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), Hv). H is symmetric, so this is vhp: the cheaper of the two."""
    return second_product(func, inputs, v, "hvp", create_graph, strict)


# ---- matrices ----------------------------------------------------------------------------------------------

def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The Jacobian, of shape output.shape + input.shape; nested as outputs × inputs where these are tuples.

    `strategy`: "reverse-mode" (a backward per element of the outputs) or "forward-mode" (a forward pass per element of
    the inputs; only with `vectorize`, which changes nothing else here).
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has '
            'more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to '
            'use "reverse-mode".'
        )
    if strategy == "forward-mode":
        return forward_jacobian(func, inputs, create_graph, strict, vectorize)
    return reverse_jacobian(func, inputs, create_graph, strict, vectorize)


TOGETHER = "torch.autograd.functional.jacobian: `strict=True` and `{}` are not supported together. Please either set " \
           "`strict=False` or `{}`."


@enable_grad()
def reverse_jacobian(func, inputs, create_graph, strict, vectorize):
    inputs, is_tuple = as_tuple(inputs, "inputs", "jacobian")
    points, outputs, outputs_tuple = evaluated(func, inputs, "jacobian", create_graph, strict)
    if vectorize and strict:
        raise RuntimeError(TOGETHER.format("vectorized=True", "vectorize=False"))
    rows = [jacobian_of_output(i, out, points, create_graph, strict) for i, out in enumerate(outputs)]
    return unwrap([unwrap(detached(row, create_graph), is_tuple) for row in rows], outputs_tuple)


def jacobian_of_output(i, out, points, create_graph, strict):
    """One backward per element of the output, stacked."""
    message = (
        f"Output {i} of the user-provided function is independent of input {{}}. This is not allowed in strict mode."
    )
    per_element = []
    for element in out.reshape((-1,)).unbind():
        found = gradients_of([element], points, [None], create_graph, retain_graph=True)
        if strict and create_graph and any(g is not None and not g.requires_grad for g in found):
            raise RuntimeError(
                f"The jacobian of the user-provided function is independent of input {i}. This is not allowed "
                "in strict mode when create_graph=True."
            )
        per_element.append(filled(found, points, strict, message))
    if not per_element:
        return [point.new_zeros((*out.shape, *point.shape)) for point in points]
    return [stacked(column).reshape((*out.shape, *point.shape)) for column, point in zip(zip(*per_element), points)]


def forward_jacobian(func, inputs, create_graph, strict, vectorize):
    if create_graph:
        raise NotImplementedError(
            'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` '
            "are not supported together (yet). Please either set `create_graph=False` or "
            '`strategy="reverse-mode"`.'
        )
    if strict:
        raise RuntimeError(TOGETHER.format('strategy="forward-mode"', 'strategy="reverse-mode"'))
    if not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian is"
                                  "only implemented for `vectorize=True`.")
    inputs, is_tuple = as_tuple(inputs, "inputs", "jacobian")
    columns = [tangents_by_element(func, inputs, place) for place in range(len(inputs))]
    outputs, outputs_tuple = as_tuple(func(*inputs), OUTPUTS, "jacobian")
    return unwrap([unwrap([shaped(columns[place], i, out, t) for place, t in enumerate(inputs)], is_tuple)
                   for i, out in enumerate(outputs)], outputs_tuple)


def tangents_by_element(func, inputs, place):
    """For each element of one input, the outputs' tangents."""
    found = []
    for k in range(inputs[place].numel()):
        direction = zeros_like(inputs[place]).reshape((-1,))
        direction[k] = 1
        with forward_ad.dual_level():
            points = list(inputs)
            points[place] = forward_ad.make_dual(points[place], direction.reshape(tuple(points[place].shape)))
            outputs, _ = as_tuple(func(*points), OUTPUTS, "jacobian")
            unpacked = [forward_ad.unpack_dual(out) for out in outputs]
        found.append([zeros_like(u.primal).detach() if u.tangent is None else u.tangent.detach() for u in unpacked])
    return found


def shaped(columns, i, out, t):
    """Output i's tangents by element of an input, as a Jacobian."""
    if not columns:
        return out.new_zeros((*out.shape, *t.shape))
    stacked_first = registry["stack"]([column[i] for column in columns], 0)
    return stacked_first.permute((*range(1, stacked_first.dim()), 0)).reshape((*out.shape, *t.shape))


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The matrix of second derivatives of a function with one output element; nested inputs × inputs for tuples."""
    inputs, is_tuple = as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    scalar = single_element(func, "hessian")

    def gradient(*points):
        if outer_jacobian_strategy == "forward-mode":
            points = tuple(p.requires_grad_() if p.is_leaf else p for p in points)
        found = jacobian(scalar, points, create_graph=True)
        if strict:
            require_tracked(found, UNTRACKED_JACOBIAN)
        return found

    nested = jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return nested if is_tuple else nested[0][0]
