"""Derivatives of functions: vjp, jvp, jacobian, hessian, vhp, hvp (torch.autograd.functional).

`func` takes tensors and returns a tensor or a tuple of tensors; what is returned has the structure of what was given.
https://pytorch.org/docs/stable/autograd.html#functional-higher-level-api
"""
from ..tensor import Tensor
from .api import grad, stacked
from .grad_mode import enable_grad


def as_tuple(value, what="inputs"):
    """(tuple of tensors, whether it was one already). TypeError for anything else."""
    is_tuple = isinstance(value, tuple)
    values = value if is_tuple else (value,)
    for i, t in enumerate(values):
        if not isinstance(t, Tensor):
            which = f"is element {i} of the tuple " if is_tuple else ""
            raise TypeError(f"The {what} must be either a Tensor or a tuple of Tensors but the given {which}has type "
                            f"{type(t)}.")
    return values, is_tuple


def unwrap(values, is_tuple):
    return tuple(values) if is_tuple else values[0]


def prepared(inputs, create_graph):
    """The inputs as fresh points of a graph: connected to the old one only if the results must be."""
    return tuple(t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_() for t in inputs)


def evaluated(func, inputs, create_graph):
    """(differentiable inputs, outputs, whether the outputs are a tuple)."""
    points = prepared(inputs, create_graph)
    outputs, is_tuple = as_tuple(func(*points), "outputs of the user-provided function")
    return points, outputs, is_tuple


def checked_vectors(v, tensors, what, single):
    """The given v as a tuple that fits the tensors; may be None for a single one-element tensor."""
    if v is None:
        if len(tensors) != 1 or tensors[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if the user-provided function {single} a single Tensor "
                               "with a single element.")
        return tuple(t.new_ones(t.shape) for t in tensors)
    vectors, _ = as_tuple(v, "v")
    if len(vectors) != len(tensors):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(tensors)} but got {len(vectors)}.")
    for i, (vector, t) in enumerate(zip(vectors, tensors)):
        if vector.shape != t.shape:
            raise RuntimeError(f"v has invalid size: should be {t.shape} but got {vector.shape}."
                               if len(tensors) == 1 else
                               f"Entry {i} in v has invalid size: should be {t.shape} but got {vector.shape}.")
    return vectors


def filled(gradients, points, strict, create_graph):
    """Zeros where a gradient is missing; an error if `strict`."""
    found = []
    for i, (g, point) in enumerate(zip(gradients, points)):
        if g is None:
            if strict:
                raise RuntimeError(f"The output of the user-provided function is independent of input {i}. This is not "
                                   "allowed in strict mode.")
            g = point.new_zeros(point.shape)
        found.append(g if create_graph else g.detach())
    return found


def gradients_of(outputs, points, starts, create_graph, retain_graph=None):
    """`grad` that yields None for outputs without a graph."""
    tracked = [(o, s) for o, s in zip(outputs, starts) if o.requires_grad]
    if not tracked:
        return [None] * len(points)
    return grad([o for o, _ in tracked], points, [s for _, s in tracked], allow_unused=True, create_graph=create_graph,
                retain_graph=retain_graph)


def detached(values, create_graph):
    return [t if create_graph else t.detach() for t in values]


@enable_grad()
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), vᵀJ): the product of v, shaped like the output, with the Jacobian."""
    inputs, is_tuple = as_tuple(inputs)
    points, outputs, outputs_tuple = evaluated(func, inputs, create_graph)
    vectors = checked_vectors(v, outputs, "output", "returns")
    found = filled(gradients_of(outputs, points, vectors, create_graph), points, strict, create_graph)
    return unwrap(detached(outputs, create_graph), outputs_tuple), unwrap(found, is_tuple)


@enable_grad()
def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), Jv), by differentiating vᵀJ, which is linear in v, once more (the "double backward trick")."""
    inputs, is_tuple = as_tuple(inputs)
    points, outputs, outputs_tuple = evaluated(func, inputs, create_graph)
    vectors = checked_vectors(v, points, "input", "takes as input")
    starts = [o.new_zeros(o.shape).requires_grad_() for o in outputs]
    products = gradients_of(outputs, points, starts, True)
    kept = [(p, vector) for p, vector in zip(products, vectors) if p is not None]
    found = gradients_of([p for p, _ in kept], starts, [vector for _, vector in kept], create_graph)
    found = filled(found, outputs, strict, create_graph)
    return unwrap(detached(outputs, create_graph), outputs_tuple), unwrap(found, outputs_tuple)


@enable_grad()
def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The Jacobian, of shape output.shape + input.shape; nested as outputs × inputs where these are tuples."""
    inputs, is_tuple = as_tuple(inputs)
    points, outputs, outputs_tuple = evaluated(func, inputs, create_graph)
    rows = [jacobian_of_output(out, points, create_graph, strict) for out in outputs]
    rows = [unwrap(row, is_tuple) for row in rows]
    return unwrap(rows, outputs_tuple)


def jacobian_of_output(out, points, create_graph, strict):
    """One backward per element of the output, stacked."""
    per_element = []
    flat = out.reshape(-1)
    for k in range(out.numel()):
        start = [flat[k].new_ones(())]
        found = gradients_of([flat[k]], points, start, create_graph, retain_graph=True)
        per_element.append(filled(found, points, strict, create_graph))
    if not per_element:
        return [point.new_zeros((*out.shape, *point.shape)) for point in points]
    return [stacked(column).reshape(*out.shape, *point.shape) for column, point in zip(zip(*per_element), points)]


def single_element(func):
    """The function, checked to return one tensor with one element, as a 0-dim tensor."""
    def checked(*args):
        out = func(*args)
        if not isinstance(out, Tensor):
            raise RuntimeError("The function given to hessian should return a single Tensor")
        if out.numel() != 1:
            raise RuntimeError("The Tensor returned by the function given to hessian should contain a single element")
        return out.squeeze()
    return checked


@enable_grad()
def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The matrix of second derivatives of a function with one output element; nested inputs × inputs for tuples."""
    inputs, is_tuple = as_tuple(inputs)
    scalar = single_element(func)

    def gradient(*points):
        out = scalar(*points)
        found = filled(gradients_of([out], points, [out.new_ones(out.shape)], True), points, strict, True)
        return tuple(found)

    nested = jacobian(gradient, inputs, create_graph, strict)
    return nested if is_tuple else nested[0][0]


@enable_grad()
def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), vᵀH)."""
    inputs, is_tuple = as_tuple(inputs)
    points, outputs, _ = evaluated(single_element(func), inputs, create_graph)
    vectors = checked_vectors(v, points, "input", "takes as input")
    first = gradients_of(outputs, points, [outputs[0].new_ones(outputs[0].shape)], True)
    kept = [(g, vector) for g, vector in zip(first, vectors) if g is not None]
    second = gradients_of([g for g, _ in kept], points, [vector for _, vector in kept], create_graph)
    found = filled(second, points, strict, create_graph)
    return detached(outputs, create_graph)[0], unwrap(found, is_tuple)


@enable_grad()
def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), Hv). H is symmetric, so this is vhp, the cheaper of the two."""
    return vhp(func, inputs, v, create_graph, strict)
