"""grad, vjp, jacrev by recording and running backward; jvp, jacfwd by forward mode; hessian by one over the other."""
import functools

from ..autograd import enable_grad, forward_ad, grad as autograd_grad, is_grad_enabled
from ..autograd.accumulate import AccumulateGrad
from ..autograd.functional import zeros_like
from ..autograd.meta import gradient_edge
from ..dispatch.operator import registry
from ..dispatch.state import state
from ..tensor import Tensor
from .active import transform
from .tree import flatten, mapped, shown, spec_text, unflatten
from .vectorize import check_randomness


# ---- points: where a function is differentiated ---------------------------------------------------------------------

def point_at(t):
    """A tensor to differentiate by: like `t`, and connected to it if it takes part in an outer differentiation."""
    if not isinstance(t, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(t)}")
    if t.requires_grad:
        return t.view_as(t)
    if forward_ad.tangent_of(t) is not None:
        return t.view_as(t).requires_grad_()
    return t.detach().requires_grad_()


def leads_outside(outputs, points):
    """Whether the outputs depend on tensors that require grad, other than the points."""
    own = {id(p) for p in points}
    stack = [edge[0] for edge in map(gradient_edge, outputs) if edge is not None]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if isinstance(node, AccumulateGrad) and id(node.variable) not in own:
            return True
        for edge in node.next_edges:
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                stack.append(edge[0])
    return False


def gradients(outputs, points, starts, create_graph, retain_graph=None):
    """The points' gradients; zeros where none flows."""
    tracked = [(o, s) for o, s in zip(outputs, starts) if o.requires_grad]
    if not tracked:
        return [zeros_like(p).detach() for p in points]
    found = autograd_grad([o for o, _ in tracked], points, [s for _, s in tracked], retain_graph, create_graph,
                          allow_unused=True)
    return [zeros_like(p).detach() if g is None else g for g, p in zip(found, points)]


def finished(t, points, is_connected=None):
    """A result: cut off from the points, unless it belongs to an outer graph, and so its tangent."""
    if not isinstance(t, Tensor):
        return t
    is_connected = leads_outside([t], points) if is_connected is None else is_connected
    tangent = forward_ad.tangent_of(t)
    if tangent is None:
        return t if is_connected else t.detach()
    primal = forward_ad.unpack_dual(t).primal
    return forward_ad.make_dual(primal if is_connected else primal.detach(), finished(tangent, points))


# ---- arguments ------------------------------------------------------------------------------------------------------

def checked_argnums(argnums, count):
    """The argument numbers, counted from the front. RuntimeError for numbers that do not fit."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    for number in numbers:
        if not isinstance(number, int):
            raise RuntimeError(f"argnum must be int, got: {type(number)}")
        if not -count <= number < count:
            raise RuntimeError(f"Got argnum={number}, but only {count} positional inputs")
    numbers = tuple(number % count for number in numbers)
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    if len(set(numbers)) < len(numbers):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return numbers


def with_points(args, numbers):
    """(the arguments with points at these places, the points as a flat list, their structure)."""
    leaves, structure = flatten(tuple(args[number] for number in numbers))
    points = [point_at(leaf) for leaf in leaves]
    replaced = list(args)
    for number, part in zip(numbers, unflatten(points, structure)):
        replaced[number] = part
    return replaced, points, structure


def split_aux(result, has_aux, caller):
    """(output, aux) of a function that returns such a pair."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{caller}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return result


def aux_of(function, aux, has_aux):
    """The aux value with function(tensor) in place of each tensor. RuntimeError for a leaf that is no tensor."""
    def of_leaf(leaf):
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
        return function(leaf)
    return mapped(of_leaf, aux) if has_aux else None


def tensor_leaves(output, caller):
    """The outputs as a flat list, and their structure. RuntimeError unless they are tensors."""
    leaves, structure = flatten(output)
    if not leaves or leaves == [None]:
        raise RuntimeError(f"{caller}: Expected f to be a function that has non-empty output (got output = {leaves})")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{caller}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)}"
            )
    return leaves, structure


# ---- gradients of one number ----------------------------------------------------------------------------------------

def grad_and_value(func, argnums=0, has_aux=False):
    """A function of the same arguments that returns (gradient, value), or (gradient, (value, aux)).

    `func` returns a 0-dim tensor (`has_aux`: and something else). `argnums`: the argument to differentiate by, or a
    tuple of arguments, each a tensor or a nest of tensors.
    """
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        numbers = checked_argnums(argnums, len(args))
        with enable_grad(), transform("grad"):
            replaced, points, structure = with_points(args, numbers)
            output, aux = split_aux(func(*replaced, **kwargs), has_aux, CALL)
            check_number(output)
            is_connected = leads_outside([output], points)
            found = gradients([output], points, [None], is_connected or state.forward_ad)
        found = unflatten([finished(g, points, is_connected) for g in found], structure)
        found = found if isinstance(argnums, tuple) else found[0]
        value = finished(output, points, is_connected)
        return found, (value, aux_of(lambda t: finished(t, points), aux, has_aux)) if has_aux else value
    return wrapper


CALL = "grad_and_value(f)(*args)"


def check_number(output):
    if not isinstance(output, Tensor):
        raise RuntimeError(f"{CALL}: Expected f(*args) to return a Tensor, got {type(output)}")
    if output.dim() != 0:
        raise RuntimeError(
            f"{CALL}: Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} dims. Maybe "
            "you wanted to use the vjp or jacrev APIs instead?"
        )


value_and_grad = grad_and_value


def grad(func, argnums=0, has_aux=False):
    """A function of the same arguments that returns func's gradient (`has_aux`: and the aux value)."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found
    return wrapper


# ---- products with the Jacobian -------------------------------------------------------------------------------------

def vjp(func, *primals, has_aux=False):
    """(func(*primals), vjp_fn) or (output, vjp_fn, aux): vjp_fn(cotangents, shaped like the output) gives vᵀJ, a tuple
    with an entry per primal."""
    with enable_grad(), transform("grad"):
        replaced, points, structure = with_points(primals, tuple(range(len(primals))))
        output, aux = split_aux(func(*replaced), has_aux, "vjp(f, *primals)")
        outputs, output_structure = tensor_leaves(output, "vjp(f, *primals)")
        for out in outputs:
            if not out.is_floating_point():
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with "
                    f"dtype {out.dtype}"
                )
    is_connected = leads_outside(outputs, points)

    def vjp_fn(cotangents, retain_graph=True, create_graph=None):
        starts, given = flatten(cotangents)
        if given != output_structure:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {shown(given)}, primal output: {shown(output_structure)}"
            )
        wants_graph = is_grad_enabled() if create_graph is None else create_graph
        is_tracked = is_connected or any(s.requires_grad for s in starts)
        found = gradients(outputs, points, starts, wants_graph and is_tracked or state.forward_ad, retain_graph)
        return unflatten([finished(g, points, is_tracked) for g in found], structure)

    result = unflatten([finished(out, points, is_connected) for out in outputs], output_structure)
    if not has_aux:
        return result, vjp_fn
    return result, vjp_fn, aux_of(lambda t: finished(t, points), aux, has_aux)


JVP = "jvp(f, primals, tangents)"


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(func(*primals), Jv) or (output, Jv, aux), for tangents v shaped like the primals."""
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    leaves, structure = flatten(primals)
    directions, given = flatten(tangents)
    if given != structure:
        raise RuntimeError(
            f"{JVP}: Expected primals and tangents to have the same python structure. For example, if primals "
            "is a tuple of 3 tensors, tangents also must be. Got primals with structure "
            f"{spec_text(structure)} and tangents with structure {spec_text(given)}"
        )
    check_tensors(leaves, "primals")
    check_tensors(directions, "tangents")
    push = by_two_backwards if state.dual_level else by_dual_numbers
    with transform("jvp"):
        outputs, found, output_structure, aux = push(func, leaves, directions, structure, strict, has_aux)
    result = unflatten(outputs, output_structure), unflatten(found, output_structure)
    return (*result, aux) if has_aux else result


def check_tensors(leaves, name):
    if not leaves:
        raise RuntimeError(f"{JVP}: Expected {name} to contain at least one Tensor.")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{JVP}: Expected {name} to only contain Tensors, got {type(leaf)}")


def by_dual_numbers(func, leaves, directions, structure, strict, has_aux):
    """One forward pass with tangents."""
    with forward_ad.dual_level():
        points = [forward_ad.make_dual(leaf, direction) for leaf, direction in zip(leaves, directions)]
        output, aux = split_aux(func(*unflatten(points, structure)), has_aux, JVP)
        outputs, output_structure = tensor_leaves(output, JVP)
        unpacked = [forward_ad.unpack_dual(out) for out in outputs]
        aux = aux_of(lambda t: forward_ad.unpack_dual(t).primal, aux, has_aux)
    require_dependence([u.tangent for u in unpacked], strict)
    found = [zeros_like(u.primal) if u.tangent is None else u.tangent for u in unpacked]
    return [u.primal for u in unpacked], found, output_structure, aux


def by_two_backwards(func, leaves, directions, structure, strict, has_aux):
    """Inside another forward pass, whose level is taken: vᵀJ is linear in v, and its derivative by v is J."""
    with enable_grad():
        points = [point_at(leaf) for leaf in leaves]
        output, aux = split_aux(func(*unflatten(points, structure)), has_aux, JVP)
        outputs, output_structure = tensor_leaves(output, JVP)
        starts = [zeros_like(out).detach().requires_grad_() for out in outputs]
        products = gradients(outputs, points, starts, True)
        found = gradients(products, starts, directions, True)
    inner = [*points, *starts]
    aux = aux_of(lambda t: finished(t, inner), aux, has_aux)
    return [finished(o, inner) for o in outputs], [finished(f, inner) for f in found], output_structure, aux


def require_dependence(tangents, strict):
    if strict and any(t is None for t in tangents):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
            "allowed with strict=True."
        )


def linearize(func, *primals):
    """(func(*primals), jvp_fn): jvp_fn(*tangents) gives Jv at the primals. Each call runs the function again."""
    def jvp_fn(*tangents):
        return jvp(func, primals, tangents)[1]
    return func(*primals), jvp_fn


# ---- whole Jacobians ------------------------------------------------------------------------------------------------

def one_hots(t):
    """For each element of a tensor, a tensor of its shape that is 1 there and 0 elsewhere."""
    flat = zeros_like(t).detach().reshape((-1,))
    for k in range(flat.numel()):
        direction = flat.clone()
        direction[k] = 1
        yield direction.reshape(tuple(t.shape))


def nested(table, output_structure, structure, argnums):
    """Outputs × arguments, in their structures; `table[o][i]` is the Jacobian of output o by leaf i."""
    rows = [unflatten(row, structure) for row in table]
    rows = [row if isinstance(argnums, tuple) else row[0] for row in rows]
    return unflatten(rows, output_structure)


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that returns func's Jacobian (output.shape + input.shape) by a backward per output element."""
    check_chunk_size(chunk_size, "jacrev")

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        numbers = checked_argnums(argnums, len(args))
        with enable_grad(), transform("grad"):
            replaced, points, structure = with_points(args, numbers)
            output, aux = split_aux(func(*replaced, **kwargs), has_aux, "vjp(f, *primals)")
            outputs, output_structure = tensor_leaves(output, "vjp(f, *primals)")
            is_connected = leads_outside(outputs, points)
            create_graph = is_connected or state.forward_ad
            table = [rows_of(out, points, create_graph, is_connected) for out in outputs]
        result = nested(table, output_structure, structure, argnums)
        return (result, aux_of(lambda t: finished(t, points), aux, has_aux)) if has_aux else result
    return wrapper


def check_chunk_size(chunk_size, caller):
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"{caller}: `chunk_size` should be greater than 0.")


def rows_of(out, points, create_graph, is_connected):
    """The Jacobians of one output by each point."""
    rows = [gradients([out], points, [start], create_graph, True) for start in one_hots(out)]
    if not rows:
        return [p.detach().new_zeros((*out.shape, *p.shape)) for p in points]
    return [finished(registry["stack"](list(column), 0).reshape((*out.shape, *p.shape)), points, is_connected)
            for column, p in zip(zip(*rows), points)]


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """A function that returns func's Jacobian, of shape output.shape + input.shape, by a forward pass per input
    element."""
    check_randomness(randomness)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        numbers = checked_argnums(argnums, len(args))
        leaves, structure = flatten(tuple(args[number] for number in numbers))

        def of_leaves(*values):
            replaced = list(args)
            for number, part in zip(numbers, unflatten(values, structure)):
                replaced[number] = part
            return func(*replaced, **kwargs)
        columns, output_structure, aux = [], None, None
        for place in range(len(leaves)):
            column, output_structure, aux = tangents_by_element(of_leaves, leaves, place, has_aux)
            columns.append(column)
        table = [[column[o] for column in columns] for o in range(len(columns[0]))]
        result = nested(table, output_structure, structure, argnums)
        return (result, aux) if has_aux else result
    return wrapper


def tangents_by_element(func, leaves, place, has_aux):
    """(the Jacobian of each output by one leaf, the outputs' structure, aux)."""
    found, outputs, structure, aux = [], None, None, None
    for direction in one_hots(leaves[place]):
        tangents = [zeros_like(leaf).detach() if i != place else direction for i, leaf in enumerate(leaves)]
        output, tangent, *rest = jvp(func, tuple(leaves), tuple(tangents), has_aux=has_aux)
        outputs, structure = flatten(output)
        aux = rest[0] if has_aux else None
        found.append(flatten(tangent)[0])
    shape = tuple(leaves[place].shape)
    if not found:
        output, aux = split_aux(func(*leaves), has_aux, JVP)
        outputs, structure = flatten(output)
        return [out.new_zeros((*out.shape, *shape)) for out in outputs], structure, aux
    return [with_last([row[o] for row in found], (*out.shape, *shape)) for o, out in enumerate(outputs)], structure, aux


def with_last(tangents, shape):
    """The tangents, one behind the other in memory, seen with their number as the last dimensions."""
    stacked = registry["stack"](tangents, 0)
    return stacked.permute((*range(1, stacked.dim()), 0)).reshape(shape)


def hessian(func, argnums=0):
    """A function that returns func's second derivatives, forward over reverse: jacfwd(jacrev(func))."""
    return jacfwd(jacrev(func, argnums), argnums)
