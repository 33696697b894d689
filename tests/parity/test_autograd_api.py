"""Small autograd programs that must end alike in PyTorch and teachtorch: in the same values, or in the same error."""
import warnings

import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402
from tests.parity.autograd_outcomes import leaf, outcome  # noqa: E402

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


# ---- backward and grad --------------------------------------------------------------------------------------------

@program
def backward_of_several_elements(m):
    (leaf(m) * 2).backward()


@program
def backward_outside_a_graph(m):
    m.ones(1).backward()


@program
def backward_with_a_number(m):
    leaf(m).sum().backward(1.0)


@program
def backward_with_a_wrong_shape(m):
    (leaf(m) * 2).backward(m.ones(4, dtype=m.float64))


@program
def backward_with_another_dtype(m):
    x = leaf(m)
    (x * 2).backward(m.ones(3))
    return x.grad, str(x.grad.dtype).split(".")[1]


@program
def backward_of_integers(m):
    x = leaf(m)
    m.autograd.backward([x.sum(), m.tensor(1)])


@program
def more_gradients_than_tensors(m):
    x = leaf(m)
    m.autograd.backward([x.sum()], [None, None])


@program
def backward_without_inputs(m):
    leaf(m).sum().backward(inputs=[])


@program
def backward_into_a_single_input(m):
    x, y = leaf(m), leaf(m)
    (x * y).sum().backward(inputs=x)
    return x.grad, y.grad


@program
def backward_into_a_constant(m):
    x = leaf(m)
    (x * 2).sum().backward(inputs=[m.ones(3)])


@program
def backward_into_a_middle_runs_its_node(m):
    x = leaf(m)
    a = x.exp()
    b = (a * 2).sum()
    b.backward(inputs=[a], retain_graph=True)
    return a.grad, x.grad, a.retains_grad


@program
def grad_of_an_unused_input(m):
    x, y = leaf(m), leaf(m)
    return m.autograd.grad(x.sum(), [x, y])


@program
def grad_allows_unused(m):
    x, y = leaf(m), leaf(m)
    return m.autograd.grad(x.sum(), [x, y], allow_unused=True)


@program
def grad_materializes(m):
    x, y = leaf(m), leaf(m)
    return m.autograd.grad(x.sum(), [x, y], materialize_grads=True)


@program
def grad_materializes_and_forbids(m):
    x = leaf(m)
    return m.autograd.grad(x.sum(), [x], materialize_grads=True, allow_unused=False)


@program
def grad_by_nothing(m):
    return m.autograd.grad(leaf(m).sum(), [])


@program
def grad_by_a_constant(m):
    return m.autograd.grad(leaf(m).sum(), [m.ones(3)])


@program
def grad_of_a_vector(m):
    x = leaf(m)
    return m.autograd.grad(x * x, x)


@program
def grad_of_several_outputs(m):
    x = leaf(m)
    return m.autograd.grad([x.sum(), (x * x).sum()], x)


@program
def grad_with_the_input_itself(m):
    x = leaf(m)
    return m.autograd.grad(x, x, m.ones(3, dtype=m.float64) * 3)


@program
def grad_twice_by_the_same(m):
    x = leaf(m)
    return m.autograd.grad((x * x).sum(), [x, x])


@program
def grad_of_a_dict(m):
    x = leaf(m)
    return m.autograd.grad({"a": x.sum()}, x)


@program
def grad_of_text(m):
    return m.autograd.grad("text", leaf(m))


@program
def grad_batched(m):
    x = leaf(m)
    rows = m.eye(3, dtype=m.float64)
    return m.autograd.grad(x * x, x, rows, is_grads_batched=True)


@program
def second_backward(m):
    y = leaf(m).exp().sum()
    y.backward()
    y.backward()


@program
def second_backward_of_a_product_with_a_number(m):
    y = (leaf(m) * 2).sum()
    y.backward()
    y.backward()


@program
def second_backward_of_a_sum(m):
    x = leaf(m)
    y = (x + 2).sum()
    y.backward()
    y.backward()
    return x.grad


@program
def create_graph_retains(m):
    x = leaf(m)
    y = (x ** 3).sum()
    first, = m.autograd.grad(y, x, create_graph=True)
    second, = m.autograd.grad(first.sum(), x, create_graph=True)
    third, = m.autograd.grad(second.sum(), x)
    return first, second, third


@program
def backward_create_graph(m):
    x = leaf(m)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")             # PyTorch warns once per process
        (x * x).sum().backward(create_graph=True)
    grad = x.grad
    x.grad = None
    return grad, grad.requires_grad, grad.grad_fn.name()


@program
def positional_grad_variables(m):
    x = leaf(m)
    m.autograd.backward((x * 2,), (m.ones(3, dtype=m.float64),))
    return x.grad


@program
def tensor_backward_positional(m):
    x = leaf(m)
    y = (x * x).sum()
    y.backward(None, True)
    y.backward(m.tensor(2.0, dtype=m.float64))
    return x.grad


@program
def a_gradient_of_zero_dims_is_expanded(m):
    x = leaf(m)
    y = x.sum()
    y.backward(m.ones(1, dtype=m.float64))
    return x.grad


@program
def detached_in_between(m):
    x = leaf(m)
    (x.detach() * x).sum().backward()
    return x.grad


# ---- leaves and flags ---------------------------------------------------------------------------------------------

@program
def requires_grad_of_integers(m):
    m.ones(2, dtype=m.int64).requires_grad_()


@program
def tensor_of_integers_requiring_grad(m):
    m.tensor([1, 2], requires_grad=True)


@program
def requires_grad_off_of_a_non_leaf(m):
    (leaf(m) * 2).requires_grad_(False)


@program
def requires_grad_on_of_a_non_leaf(m):
    return (leaf(m) * 2).requires_grad_().requires_grad


@program
def retain_grad_of_a_constant(m):
    m.ones(2).retain_grad()


@program
def retain_grad_of_a_leaf(m):
    x = leaf(m)
    x.retain_grad()
    return x.retains_grad


@program
def grad_of_a_non_leaf_warns(m):
    return (leaf(m) * 2).grad


@program
def assign_a_gradient_of_another_shape(m):
    leaf(m).grad = m.ones(4, dtype=m.float64)


@program
def assign_a_gradient_of_another_dtype(m):
    leaf(m).grad = m.ones(3)


@program
def assign_no_tensor(m):
    leaf(m).grad = 1.0


@program
def assign_itself(m):
    x = leaf(m)
    x.grad = x


@program
def delete_the_gradient(m):
    x = leaf(m)
    x.sum().backward()
    del x.grad
    return x.grad


@program
def detach_view_in_place(m):
    (leaf(m) * 2)[:2].detach_()


@program
def numpy_of_a_tracked_tensor(m):
    leaf(m).numpy()


@program
def tolist_and_item_of_a_tracked_tensor(m):
    x = leaf(m)
    return x.tolist(), x.sum().item()


@program
def deepcopy_of_a_non_leaf(m):
    import copy
    copy.deepcopy(leaf(m) * 2)


@program
def deepcopy_of_a_leaf(m):
    import copy
    x = leaf(m)
    x.sum().backward()
    y = copy.deepcopy(x)
    return y.requires_grad, y.grad, y.is_leaf, y is x


@program
def data_is_replaced(m):
    x = leaf(m)
    x.data = m.zeros(2, dtype=m.float64)
    return x, x.requires_grad, x._version


@program
def data_of_a_wrong_dtype(m):
    leaf(m).data = m.zeros(3, dtype=m.int64)


@program
def data_is_no_tensor(m):
    leaf(m).data = 3


# ---- in place -----------------------------------------------------------------------------------------------------

@program
def in_place_on_a_leaf(m):
    leaf(m).add_(1)


@program
def in_place_on_a_view_of_a_leaf(m):
    leaf(m)[0].mul_(2)


@program
def assignment_to_a_leaf(m):
    leaf(m)[0] = 1.0


@program
def in_place_on_an_unbound_part(m):
    (leaf(m) * 2).unbind()[0].mul_(2)


@program
def in_place_on_a_split_part(m):
    (leaf(m) * 2).split(2)[1].add_(1)


@program
def in_place_on_a_view_made_without_grad(m):
    a = leaf(m) * 2
    with m.no_grad():
        v = a[:2]
    v.mul_(2)


@program
def base_changed_under_a_view_made_without_grad(m):
    a = leaf(m) * 2
    with m.no_grad():
        v = a[:2]
    a.mul_(2)
    return v.grad_fn


@program
def saved_result_changed(m):
    x = leaf(m)
    y = x.exp()
    y.mul_(2)
    y.sum().backward()


@program
def saved_input_changed(m):
    x = leaf(m)
    a = x * 1
    y = a.sin()
    a.zero_()
    y.sum().backward()


@program
def saved_view_changed(m):
    x = leaf(m)
    a = x * 1
    y = a[:2] * a[1:]
    a[0] = 5
    y.sum().backward()


@program
def saved_tensor_of_float32_changed(m):
    x = m.ones(2, 3, requires_grad=True)
    a = x + 0
    y = a.pow(2)
    a += 1
    y.sum().backward()


@program
def change_through_detach_is_seen(m):
    x = leaf(m)
    y = x.exp()
    y.detach().zero_()
    y.sum().backward()


@program
def change_through_data_is_not(m):
    x = leaf(m)
    y = x.exp()
    y.data.zero_()
    y.sum().backward()
    return x.grad


@program
def out_of_a_tracked_tensor(m):
    m.add(leaf(m), 1, out=m.zeros(3, dtype=m.float64))


@program
def copy_slices_chain(m):
    x = leaf(m)
    a = x * 1
    a[0] = 7.0
    a[1:].mul_(x[1:])
    a.sum().backward()
    return x.grad, a.grad_fn.name().split("::")[-1]


# ---- hooks --------------------------------------------------------------------------------------------------------

@program
def hook_on_a_constant(m):
    m.ones(1).register_hook(print)


@program
def post_accumulate_hook_on_a_non_leaf(m):
    (leaf(m) * 2).register_post_accumulate_grad_hook(print)


@program
def hook_changes_the_size(m):
    x = leaf(m)

    def halves(grad):
        return grad[:1]
    x.register_hook(halves)
    x.sum().backward()


@program
def hook_changes_the_dtype(m):
    x = leaf(m)
    x.register_hook(lambda grad: grad.float())
    x.sum().backward()


@program
def hook_returns_a_number(m):
    x = leaf(m)
    x.register_hook(lambda grad: 1.0)
    x.sum().backward()


@program
def hooks_chain_and_one_is_removed(m):
    x = leaf(m)
    first = x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 2)
    (x * 1).sum().backward(retain_graph=True)
    first.remove()
    (x * 1).sum().backward()
    return x.grad


@program
def a_hook_that_removes_itself(m):
    x = leaf(m)
    seen = []
    handle = x.register_hook(lambda g: (seen.append(1), handle.remove())[1])
    for _ in range(2):
        (x * 2).sum().backward()
    return seen


@program
def prehook_replaces_gradients(m):
    x = leaf(m)
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.sum().backward()
    return x.grad


@program
def prehook_of_an_accumulator(m):
    x = leaf(m)
    y = x * 2
    y.grad_fn.next_functions[0][0].register_prehook(lambda grads: (grads[0] * 10,))
    y.sum().backward()
    return x.grad


@program
def posthook_returns_too_few(m):
    x = leaf(m)
    y = x * leaf(m)
    y.grad_fn.register_hook(lambda gi, go: (gi[0],))
    y.sum().backward()


@program
def posthook_returns_none_for_a_gradient(m):
    x, z = leaf(m), leaf(m)
    y = x * z
    y.grad_fn.register_hook(lambda gi, go: (None, gi[1]))
    y.sum().backward()
    return x.grad, z.grad


@program
def prehook_returns_text(m):
    y = leaf(m) * 2
    y.grad_fn.register_prehook(lambda grads: "text")
    y.sum().backward()


@program
def hook_error_reaches_the_caller(m):
    x = leaf(m)

    def fails(grad):
        raise KeyError("from the hook")
    x.register_hook(fails)
    x.sum().backward()


@program
def backward_inside_a_hook(m):
    x, y = leaf(m), leaf(m)

    def inner(grad):
        (y * y).sum().backward()
        return grad * 2
    x.register_hook(inner)
    (x * 3).sum().backward()
    return x.grad, y.grad


@program
def retain_grad_then_hook_and_in_place(m):
    x = leaf(m)
    a = x * 2
    seen = []
    a.retain_grad()
    a.register_hook(lambda g: seen.append(g.tolist()))
    a.mul_(3)
    a.register_hook(lambda g: seen.append(g.tolist()))
    a.sum().backward()
    return seen, a.grad


@program
def retain_grad_of_a_view_after_a_change_of_its_base(m):
    x = leaf(m)
    a = x * 2
    v = a[:2]
    v.retain_grad()
    a.mul_(3)
    v.sum().backward()
    return v.grad, x.grad


@program
def multi_grad_hook_all(m):
    xs = [leaf(m), leaf(m), leaf(m)]
    seen = []
    m.autograd.graph.register_multi_grad_hook(xs, lambda gs: seen.append([g is None for g in gs]))
    (xs[0] * xs[1]).sum().backward()
    return seen


@program
def multi_grad_hook_any(m):
    xs = [leaf(m), leaf(m)]
    seen = []
    m.autograd.graph.register_multi_grad_hook(xs, lambda g: seen.append(g.tolist()), mode="any")
    (xs[0] * xs[1]).sum().backward()
    return len(seen)


@program
def multi_grad_hook_of_an_unknown_mode(m):
    m.autograd.graph.register_multi_grad_hook([leaf(m)], print, mode="some")


@program
def multi_grad_hook_removed(m):
    xs = [leaf(m), leaf(m)]
    seen = []
    handle = m.autograd.graph.register_multi_grad_hook(xs, lambda gs: seen.append(1))
    handle.remove()
    (xs[0] * xs[1]).sum().backward()
    return seen


# ---- nodes and edges ----------------------------------------------------------------------------------------------

@program
def names_of_nodes(m):
    x = leaf(m)
    made = [x * 2, x + x, x.exp(), x.sum(), x.mean(), x[0], x.view(3, 1), x.t(), x ** 2, x.relu(), x / 2, -x, x.clone(),
            x.unsqueeze(0), x.expand(2, 3), x.max(), x.max(0)[0], x.cumsum(0), x.softmax(0), x @ x, x.reshape(1, 3),
            m.stack([x, x]), m.cat([x, x]), x.abs(), x.sin(), x.log(), x.sigmoid(), x.tanh(), x.clamp(0, 1), x.sort()[0],
            x.to(m.float32), x.prod(), x.norm(), x.var(), x.std(), m.where(x > 0, x, x), x.masked_fill(x > 0, 1.0)]
    return [t.grad_fn.name() for t in made]


@program
def next_functions_of_some(m):
    x = leaf(m)
    return [[(None if n is None else n.name().split("::")[-1], i) for n, i in t.grad_fn.next_functions]
            for t in (x * 2, x + 1, x ** 2, 2 ** x, x - 1, 1 - x, x.clamp(0), x.lerp(x, 0.5), x.masked_fill(x > 0, 0),
                      m.where(x > 0, x, 0.0), m.cat([x, m.ones(1), x]), x.addcmul(x, x))]


@program
def saved_values(m):
    x = leaf(m)
    return [x.exp().grad_fn._saved_result, (x * x).grad_fn._saved_self, x.pow(3).grad_fn._saved_exponent,
            x.clamp(0.0, 2.0).grad_fn._saved_max]


@program
def saved_values_after_backward(m):
    y = leaf(m).exp()
    y.sum().backward()
    return y.grad_fn._saved_result


@program
def metadata_of_a_node(m):
    y = leaf(m) * 2
    y.grad_fn.metadata["note"] = 1
    return y.grad_fn.metadata


@program
def an_accumulator_shows_its_leaf(m):
    x = leaf(m)
    accumulator = (x * 2).grad_fn.next_functions[0][0]
    return accumulator.variable is x, accumulator.name().split("::")[-1]


@program
def nodes_are_nodes(m):
    y = leaf(m) * 2
    node = m.autograd.graph.Node
    return isinstance(y.grad_fn, node), isinstance(y.grad_fn.next_functions[0][0], node), isinstance(3, node)


@program
def sequence_numbers_grow(m):
    x = leaf(m)
    a = x * 2
    b = a * 2
    return b.grad_fn._sequence_nr() - a.grad_fn._sequence_nr(), \
        a.grad_fn.next_functions[0][0]._sequence_nr() == 2 ** 64 - 1


@program
def a_node_is_called(m):
    y = leaf(m) * 2
    return y.grad_fn(m.ones(3, dtype=m.float64))


@program
def gradient_edges_as_inputs_and_outputs(m):
    get = m.autograd.graph.get_gradient_edge
    x = leaf(m)
    a = x * 2
    out = (a * a).sum()
    edge = get(a)
    g, = m.autograd.grad(out, edge, retain_graph=True)
    h, = m.autograd.grad(edge, x, m.ones(3, dtype=m.float64), retain_graph=True)
    m.autograd.backward(get(out), m.tensor(1.0, dtype=m.float64))
    return g, h, x.grad, edge.output_nr, edge.node is a.grad_fn, get(x).node.name().split("::")[-1]


@program
def gradient_edge_of_a_constant(m):
    m.autograd.graph.get_gradient_edge(m.ones(2))


@program
def output_numbers(m):
    x = leaf(m)
    a, b = x.split(2)
    values, indices = x.sort()
    return a.output_nr, b.output_nr, values.output_nr, indices.output_nr, indices.requires_grad


@program
def increment_version(m):
    x = m.ones(2)
    m.autograd.graph.increment_version(x)
    m.autograd.graph.increment_version([x, x])
    return x._version


# ---- saved-tensor hooks -------------------------------------------------------------------------------------------

@program
def hooks_pack_once_and_unpack_per_use(m):
    seen = []
    x = leaf(m)

    def pack(t):
        seen.append("pack")
        return t

    def unpack(t):
        seen.append("unpack")
        return t
    with m.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp().sum()
    y.backward(retain_graph=True)
    y.backward()
    return seen, x.grad


@program
def hooks_nest(m):
    seen = []

    def hooks(name):
        return m.autograd.graph.saved_tensors_hooks(lambda t: seen.append(name) or t, lambda t: t)
    x = leaf(m)
    with hooks("outer"):
        x.exp()
        with hooks("inner"):
            x.sin()
        x.cos()
    return seen


@program
def packed_tensors_have_no_history(m):
    seen = []
    x = leaf(m)
    with m.autograd.graph.saved_tensors_hooks(lambda t: seen.append((t.requires_grad, t is x)) or t, lambda t: t):
        (x * 1).sin()
    return seen


@program
def pack_may_not_change(m):
    x = leaf(m)
    with m.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        (x * 1).sin()


@program
def unpack_must_give_a_tensor(m):
    x = leaf(m)
    with m.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x.sin()
    y.sum().backward()


@program
def hooks_do_not_check_versions(m):
    x = leaf(m)
    with m.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = x.exp()
    y.zero_()
    y.sum().backward()
    return x.grad


@program
def second_derivative_through_hooks(m):
    x = leaf(m)
    with m.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), lambda a: m.from_numpy(a)):
        y = (x ** 3).sum()
        first, = m.autograd.grad(y, x, create_graph=True)
    return m.autograd.grad(first.sum(), x)


@program
def save_on_cpu(m):
    x = leaf(m)
    with m.autograd.graph.save_on_cpu():
        y = (x * x).sum()
    y.backward()
    return x.grad


@program
def hooks_disabled(m):
    with m.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
        with m.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            leaf(m).exp()


@program
def hooks_disabled_while_active(m):
    with m.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        with m.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
            leaf(m).exp()


@program
def raw_saved_takes_hooks(m):
    x = leaf(m)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t * 2, lambda t: t)
    y.sum().backward()
    return x.grad


@program
def function_saves_through_hooks(m):
    seen = []

    class Double(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ctx.saved_tensors
            ctx.saved_tensors
            return g * 2
    x = leaf(m)
    with m.autograd.graph.saved_tensors_hooks(lambda t: seen.append("pack") or t, lambda t: seen.append("unpack") or t):
        y = Double.apply(x)
    y.sum().backward()
    return seen


# ---- modes --------------------------------------------------------------------------------------------------------

@program
def no_grad_forms(m):
    @m.no_grad
    def bare():
        return m.is_grad_enabled()

    @m.no_grad()
    def called():
        return m.is_grad_enabled()

    @m.enable_grad()
    def enabled():
        return m.is_grad_enabled()

    @m.set_grad_enabled(False)
    def switched():
        return m.is_grad_enabled()
    with m.no_grad():
        inside = enabled()
    return bare(), called(), inside, switched(), m.is_grad_enabled()


@program
def factories_ignore_no_grad(m):
    with m.no_grad():
        return m.ones(1, requires_grad=True).requires_grad, (leaf(m) * 2).requires_grad


@program
def inference_tensor_changed_outside(m):
    with m.inference_mode():
        x = m.ones(2)
    x.add_(1)


@program
def inference_tensor_saved(m):
    with m.inference_mode():
        y = m.ones(3, dtype=m.float64)
    leaf(m) * y


@program
def inference_tensor_added(m):
    with m.inference_mode():
        y = m.ones(3, dtype=m.float64)
    return (leaf(m) + y).requires_grad


@program
def inference_tensor_requires_grad(m):
    with m.inference_mode():
        y = m.ones(3)
    y.requires_grad_()


@program
def inference_mode_off_inside(m):
    with m.inference_mode():
        with m.inference_mode(False):
            return m.is_inference_mode_enabled(), (leaf(m) * 2).requires_grad, m.ones(1).is_inference()


@program
def version_of_an_inference_tensor(m):
    with m.inference_mode():
        return m.ones(1)._version


# ---- anomaly mode -------------------------------------------------------------------------------------------------

@program
def anomaly_finds_nan(m):
    x = leaf(m, 0.0)
    with m.autograd.set_detect_anomaly(True):
        y = (x * 0).sqrt() * 0
        y.sum().backward()


@program
def anomaly_without_nan_check(m):
    x = leaf(m, 0.0)
    with m.autograd.set_detect_anomaly(True, check_nan=False):
        y = (x * 0).sqrt() * 0
        y.sum().backward()
    return m.is_anomaly_enabled() if hasattr(m, "is_anomaly_enabled") else False


# ---- results as numbers -------------------------------------------------------------------------------------------

@program
def reentrant_function(m):
    class Inner(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            x, = ctx.saved_tensors
            with m.enable_grad():
                y = x.detach().requires_grad_()
                (y * y).sum().backward()
            return grad * y.grad
    x = leaf(m)
    (Inner.apply(x) * 2).sum().backward()
    return x.grad


@program
def deep_reentrancy(m):
    class Nested(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            if ctx.depth:
                with m.enable_grad():
                    y = m.ones(3, dtype=m.float64, requires_grad=True)
                    Nested.apply(y, ctx.depth - 1).sum().backward()
                return grad * y.grad, None
            return grad * 2, None
    x = leaf(m)
    Nested.apply(x, 80).sum().backward()
    return x.grad


@program
def callbacks_after_backward(m):
    seen = []
    queue = m.autograd.Variable._execution_engine.queue_callback
    x = leaf(m)
    x.register_hook(lambda g: queue(lambda: seen.append(x.grad.tolist())))
    (x * 2).sum().backward()
    return seen


def with_callback(m, log, name, inside=lambda: None):
    """A Function whose backward queues a callback, then calls `inside`."""
    queue = m.autograd.Variable._execution_engine.queue_callback

    class Queues(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            queue(lambda: log.append((name, m.is_grad_enabled())))
            inside()
            return grad * 2

    return Queues.apply


@program
def callbacks_of_a_nested_backward(m):
    log = []

    def nested():
        with m.enable_grad():
            with_callback(m, log, "inner")(leaf(m)).sum().backward()
        log.append("inner has ended")

    with_callback(m, log, "outer", nested)(leaf(m)).sum().backward()
    return log


@program
def callbacks_that_queue_callbacks(m):
    log, x = [], leaf(m)
    queue = m.autograd.Variable._execution_engine.queue_callback
    x.register_hook(lambda g: queue(lambda: queue(lambda: log.append("second"))))
    x.sum().backward()
    return log


@program
def callbacks_in_the_grad_mode_of_the_pass(m):
    log = []
    with_callback(m, log, "plain")(leaf(m)).sum().backward()
    with_callback(m, log, "graph")(leaf(m)).sum().backward(create_graph=True)
    return log, m.is_grad_enabled()


@program
def callbacks_of_a_backward_that_failed(m):
    log = []

    def fail():
        raise KeyError("planted")

    try:
        with_callback(m, log, "of the failed", fail)(leaf(m)).sum().backward()
    except KeyError:
        leaf(m).sum().backward()
    return log


@program
def callback_that_fails(m):
    x = leaf(m)
    queue = m.autograd.Variable._execution_engine.queue_callback
    x.register_hook(lambda g: queue(lambda: 1 // 0))
    x.sum().backward()


@program
def callback_outside_backward(m):
    m.autograd.Variable._execution_engine.queue_callback(print)


@program
def variable_makes_a_tensor(m):
    v = m.autograd.Variable(m.ones(2), requires_grad=True)
    return v.requires_grad, isinstance(v, m.autograd.Variable), isinstance(v, m.Tensor)


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_same_outcome(name):
    expected, found = outcome(PROGRAMS[name], torch), outcome(PROGRAMS[name], teachtorch)
    assert found == expected


NODE_NAMES = {
    "log1p": lambda lib, x: x.log1p(),
    "div, floor": lambda lib, x: lib.div(x, 2, rounding_mode="floor"),
    "div_, trunc": lambda lib, x: x.clone().div_(x, rounding_mode="trunc"),
    "fill_ with a tensor": lambda lib, x: x.clone().fill_(lib.tensor(1.0)),
    "fill_ with a number": lambda lib, x: x.clone().fill_(1.0),
    "fill with a tensor": lambda lib, x: lib.fill(x, lib.tensor(1.0)),
    "fill with a number": lambda lib, x: lib.fill(x, 1.0),
    "index_fill with a tensor": lambda lib, x: x.index_fill(0, lib.tensor([0]), lib.tensor(1.0)),
    "index_fill with a number": lambda lib, x: x.index_fill(0, lib.tensor([0]), 1.0),
    "index_fill_ with a tensor": lambda lib, x: x.clone().index_fill_(0, lib.tensor([0]), lib.tensor(1.0)),
    "masked_fill with a tensor": lambda lib, x: x.masked_fill(x > 1, lib.tensor(1.0)),
    "masked_fill_ with a number": lambda lib, x: x.clone().masked_fill_(x > 1, 1.0),
    "movedim of no dimension": lambda lib, x: x.sum().movedim(0, 0),
    "a changed view": lambda lib, x: base_after_change(x),
}


def base_after_change(x):
    base = x.clone()
    base[:1].mul_(2)
    return base


@pytest.mark.parametrize("name", NODE_NAMES)
def test_names_of_nodes(name):
    names = [NODE_NAMES[name](lib, lib.tensor([1.0, 2.0], requires_grad=True)).grad_fn.name()
             for lib in (torch, teachtorch)]
    assert names[0] == names[1]


def test_the_name_of_an_accumulator():
    names = {(lib.ones(1, requires_grad=True) * 2).grad_fn.next_functions[0][0].name() for lib in (torch, teachtorch)}
    assert names == {"torch::autograd::AccumulateGrad"}


FREED = {
    "exponent": ("exponent", lambda lib, x: x ** 2),
    "base": ("self", lambda lib, x: x ** 2),
    "dim of softmax": ("dim", lambda lib, x: x.softmax(0)),
    "result of softmax": ("result", lambda lib, x: x.softmax(0)),
    "min of clamp": ("min", lambda lib, x: x.clamp(1, 3)),
    "a number as a factor": ("other", lambda lib, x: x * 3),
}


@pytest.mark.parametrize("name", FREED)
def test_numbers_stay_readable_in_a_freed_node(name):
    field, make = FREED[name]
    found = []
    for lib in (torch, teachtorch):
        y = make(lib, lib.tensor([1.0, 2.0], requires_grad=True))
        y.sum().backward()
        try:
            found.append(getattr(y.grad_fn, "_saved_" + field))
        except RuntimeError as error:
            found.append(str(error))
    assert found[0] == found[1]


def test_a_saved_tensor_is_unpacked_alone():
    for lib in (torch, teachtorch):
        unpacked = []
        x, y = lib.tensor([2.0], requires_grad=True), lib.tensor([3.0], requires_grad=True)
        with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (unpacked.append(t.item()), t)[1]):
            node = (x * y).grad_fn
        assert node._saved_self.item() == 2.0
        assert unpacked == [2.0]


def test_what_inference_mode_leaves_alone():
    for lib in (torch, teachtorch):
        y = lib.ones(2, requires_grad=True) * 2
        with lib.inference_mode():
            y.detach_()
            made_inside = lib.ones(2, 2)
        assert y.requires_grad and y.grad_fn is not None
        assert not made_inside[0]._is_view() and made_inside[0].is_inference()


def test_a_second_backward_through_a_changed_view():
    for lib in (torch, teachtorch):
        y = lib.ones(3, requires_grad=True).clone()
        y[:2].add_(3)
        y.sum().backward()
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            y.sum().backward()


def test_the_hint_when_anomaly_mode_is_on_already():
    for lib in (torch, teachtorch):
        with pytest.warns(UserWarning), lib.autograd.detect_anomaly(check_nan=False):
            y = lib.ones(1, requires_grad=True).exp()
            y.mul_(2)
            with pytest.raises(RuntimeError, match="expected version 0 instead. Hint: the backtrace further above"):
                y.sum().backward()
