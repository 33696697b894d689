"""Custom Functions, forward mode, functional derivatives and gradcheck: alike in PyTorch and teachtorch."""
import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402
from tests.parity.autograd_outcomes import leaf, outcome  # noqa: E402

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def function_of(m, forward, backward, **more):
    """A Function made of these static methods."""
    methods = {"forward": forward, "backward": backward, **more}
    return type("Made", (m.autograd.Function,), {name: staticmethod(f) for name, f in methods.items()})


def call(m, forward, backward, *args, **more):
    return function_of(m, forward, backward, **more).apply(*args)


# ---- Function: counts, shapes, types ------------------------------------------------------------------------------

@program
def too_few_gradients(m):
    x = leaf(m)
    call(m, lambda ctx, a, b: a * b, lambda ctx, g: g, x, leaf(m)).sum().backward()


@program
def too_many_gradients(m):
    call(m, lambda ctx, a: a * 2, lambda ctx, g: (g, g), leaf(m)).sum().backward()


@program
def trailing_nones_are_ignored(m):
    x = leaf(m)
    call(m, lambda ctx, a: a * 2, lambda ctx, g: (g * 2, None, None), x).sum().backward()
    return x.grad


@program
def gradient_of_a_number(m):
    call(m, lambda ctx, a, n: a * n, lambda ctx, g: (g, g), leaf(m), 2).sum().backward()


@program
def gradient_of_a_wrong_shape(m):
    call(m, lambda ctx, a: a * 2, lambda ctx, g: g[:2], leaf(m)).sum().backward()


@program
def gradient_of_a_broadcast_shape(m):
    x = leaf(m)
    call(m, lambda ctx, a: a * 2, lambda ctx, g: g.expand(4, 3), x).sum().backward()
    return x.grad


@program
def gradient_of_another_dtype(m):
    x = leaf(m)
    call(m, lambda ctx, a: a * 2, lambda ctx, g: g.float(), x).sum().backward()
    return str(x.grad.dtype).split(".")[1]


@program
def gradient_that_is_a_number(m):
    call(m, lambda ctx, a: a * 2, lambda ctx, g: 2.0, leaf(m)).sum().backward()


@program
def gradient_none(m):
    x = leaf(m)
    call(m, lambda ctx, a: a * 2, lambda ctx, g: None, x).sum().backward()
    return x.grad


@program
def gradients_in_a_list(m):
    call(m, lambda ctx, a, b: a * b, lambda ctx, g: [g, g], leaf(m), leaf(m)).sum().backward()


@program
def forward_returns_text(m):
    return call(m, lambda ctx, a: "text", lambda ctx, g: g, leaf(m))


@program
def forward_returns_none(m):
    return call(m, lambda ctx, a: None, lambda ctx, g: g, leaf(m))


@program
def forward_returns_a_list(m):
    result = call(m, lambda ctx, a: [a * 2, a * 3], lambda ctx, g, h: g, leaf(m))
    return type(result).__name__, [t.requires_grad for t in result]


@program
def mixed_outputs(m):
    seen = []

    def backward(ctx, g, n, h):
        seen.append([None if v is None else v.tolist() for v in (g, n, h)])
        return g + h
    x = leaf(m)
    a, text, b = call(m, lambda ctx, x: (x * 1, "text", x * 2), backward, x)
    a.sum().backward()
    return text, seen, x.grad


@program
def no_backward_defined(m):
    class OnlyForward(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2
    OnlyForward.apply(leaf(m)).sum().backward()


@program
def no_forward_defined(m):
    class Empty(m.autograd.Function):
        pass
    Empty.apply(leaf(m))


@program
def an_instance_is_refused(m):
    class Twice(m.autograd.Function):
        pass
    Twice()


@program
def keyword_arguments(m):
    return call(m, lambda ctx, a, factor=2: a * factor, lambda ctx, g: g, leaf(m), factor=3)


@program
def integer_output(m):
    x = leaf(m)
    out = call(m, lambda ctx, a: a.long(), lambda ctx, g: g, x)
    return out.requires_grad, out.grad_fn


@program
def names(m):
    class MyCube(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x ** 3

        @staticmethod
        def backward(ctx, g):
            return g
    out = MyCube.apply(leaf(m))
    return out.grad_fn.name(), type(out.grad_fn).__name__, [n.name().split("::")[-1] for n, _ in
                                                            out.grad_fn.next_functions]


# ---- Function: ctx ------------------------------------------------------------------------------------------------

@program
def needs_input_grad(m):
    seen = []

    def forward(ctx, a, b, c):
        seen.append(list(ctx.needs_input_grad))
        return a * b

    def backward(ctx, g):
        seen.append(list(ctx.needs_input_grad))
        return g, None, None
    call(m, forward, backward, leaf(m), m.ones(3, dtype=m.float64), "text").sum().backward()
    return seen


@program
def saved_tensors_twice(m):
    def forward(ctx, a):
        ctx.save_for_backward(a, None, a * 2)
        return a * a

    def backward(ctx, g):
        a, nothing, b = ctx.saved_tensors
        return g * b if nothing is None else None
    x = leaf(m)
    y = call(m, forward, backward, x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


@program
def saved_tensors_freed(m):
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a
    y = call(m, forward, lambda ctx, g: g * ctx.saved_tensors[0], leaf(m)).sum()
    y.backward()
    y.backward()


@program
def saved_input_changed(m):
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a
    x = leaf(m) * 1
    y = call(m, forward, lambda ctx, g: g * ctx.saved_tensors[0], x).sum()
    x.add_(1)
    y.backward()


@program
def saved_output_changed(m):
    def forward(ctx, a):
        y = a.exp()
        ctx.save_for_backward(y)
        return y
    y = call(m, forward, lambda ctx, g: g * ctx.saved_tensors[0], leaf(m))
    y.add_(1)
    y.sum().backward()


@program
def save_a_number(m):
    def forward(ctx, a):
        ctx.save_for_backward(a, 3)
        return a * a
    call(m, forward, lambda ctx, g: g, leaf(m))


@program
def save_twice_keeps_the_last(m):
    def forward(ctx, a):
        ctx.save_for_backward(a)
        ctx.save_for_backward(a * 2, a)
        return a * a

    def backward(ctx, g):
        return g * len(ctx.saved_tensors)
    x = leaf(m)
    call(m, forward, backward, x).sum().backward()
    return x.grad


@program
def attributes_of_ctx(m):
    def forward(ctx, a):
        ctx.factor = 5
        return a * 5
    x = leaf(m)
    y = call(m, forward, lambda ctx, g: g * ctx.factor, x)
    y.sum().backward()
    return x.grad, y.grad_fn.factor


@program
def materialized_gradients(m):
    seen = []

    def backward(ctx, g, h):
        seen.append([g.tolist(), h.tolist()])
        return g + h
    x = leaf(m)
    a, b = call(m, lambda ctx, x: (x * 1, x * 2), backward, x)
    b.sum().backward()
    return seen


@program
def unmaterialized_gradients(m):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1, x * 2

    def backward(ctx, g, h):
        seen.append([v is None for v in (g, h)])
        return h
    x = leaf(m)
    call(m, forward, backward, x)[1].sum().backward()
    return seen, x.grad


@program
def all_gradients_undefined(m):
    seen = []

    def backward(ctx, g):
        seen.append(g is None)
        return g
    x = leaf(m)
    y = call(m, lambda ctx, x: x * 1, backward, x)
    z = call(m, lambda ctx, x: x * 1, lambda ctx, g: None, y)
    z.sum().backward()
    return seen, x.grad


@program
def non_differentiable_output(m):
    def forward(ctx, x):
        rounded = x.round()
        ctx.mark_non_differentiable(rounded)
        return x * 1, rounded
    seen = []

    def backward(ctx, g, h):
        seen.append(h.tolist())
        return g
    x = leaf(m)
    a, b = call(m, forward, backward, x)
    a.sum().backward()
    return b.requires_grad, b.grad_fn, seen, a.output_nr


@program
def a_fully_non_differentiable_function(m):
    def forward(ctx, x):
        y = x * 1
        ctx.mark_non_differentiable(y)
        return y
    y = call(m, forward, lambda ctx, g: g, leaf(m))
    return y.requires_grad


@program
def an_input_comes_back_as_a_view(m):
    x = leaf(m)
    y = call(m, lambda ctx, x: x, lambda ctx, g: g * 2, x)
    y.sum().backward()
    return y is x, y._base is x, x.grad, y.grad_fn.name()


@program
def an_input_comes_back_unrecorded(m):
    x = m.ones(3)
    y = call(m, lambda ctx, x: x, lambda ctx, g: g * 2, x)
    return y is x, y._base is x, y.requires_grad


@program
def a_view_comes_back(m):
    x = leaf(m)
    y = call(m, lambda ctx, x: x[:2], lambda ctx, g: m.cat([g, g[:1]]), x)
    y.sum().backward()
    return y._is_view(), x.grad


@program
def a_view_that_came_back_is_changed(m):
    x = leaf(m) * 1
    y = call(m, lambda ctx, x: x[:2], lambda ctx, g: m.cat([g, g[:1]]), x)
    y.mul_(2)


@program
def dirty_input(m):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)
    x = leaf(m)
    a = x * 1
    b = call(m, forward, lambda ctx, g: g * 2, a)
    b.sum().backward()
    return b is a, a.grad_fn.name(), a._version, x.grad


@program
def dirty_leaf(m):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)
    call(m, forward, lambda ctx, g: g, leaf(m))


@program
def dirty_view(m):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)
    x = leaf(m)
    a = x * 1
    v = a[:2]
    call(m, forward, lambda ctx, g: g * 2, v)
    a.sum().backward()
    return x.grad, a.grad_fn.name().split("::")[-1]


@program
def dirty_but_not_returned(m):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x * 1
    call(m, forward, lambda ctx, g: g, leaf(m) * 1)


@program
def dirty_but_no_input(m):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y
    y = call(m, forward, lambda ctx, g: g * 2, leaf(m))
    return y.grad_fn.name()


@program
def once_differentiable(m):
    once = m.autograd.function.once_differentiable
    x = leaf(m)
    y = call(m, lambda ctx, x: x * x, once(lambda ctx, g: g * 2), x)
    first, = m.autograd.grad(y.sum(), x, create_graph=True)
    return first, first.requires_grad


@program
def once_differentiable_twice(m):
    once = m.autograd.function.once_differentiable
    x, w = leaf(m), leaf(m)
    y = call(m, lambda ctx, x: x * x, once(lambda ctx, g: g * 2), x)
    first, = m.autograd.grad((y * w).sum(), x, create_graph=True)
    first.sum().backward()


@program
def double_backward_through_saved_tensors(m):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 3 * x ** 2
    x = leaf(m)
    first, = m.autograd.grad(call(m, forward, backward, x).sum(), x, create_graph=True)
    second, = m.autograd.grad(first.sum(), x)
    return second


@program
def double_backward_through_a_saved_output(m):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    x = leaf(m)
    y = call(m, forward, lambda ctx, g: g * ctx.saved_tensors[0], x)
    first, = m.autograd.grad(y.sum(), x, create_graph=True)
    second, = m.autograd.grad(first.sum(), x)
    return second


@program
def functions_nest(m):
    inner = function_of(m, lambda ctx, x: x * 2, lambda ctx, g: g * 2)

    def forward(ctx, x):
        return inner.apply(x) * 3
    x = leaf(m)
    call(m, forward, lambda ctx, g: inner.apply(g) * 3, x).sum().backward()
    return x.grad


@program
def modes_inside(m):
    seen = []

    def forward(ctx, x):
        seen.append(m.is_grad_enabled())
        return x * 2

    def backward(ctx, g):
        seen.append(m.is_grad_enabled())
        return g
    x = leaf(m)
    call(m, forward, backward, x).sum().backward()
    m.autograd.grad(call(m, forward, backward, x).sum(), x, create_graph=True)
    return seen


@program
def setup_context(m):
    class Scaled(m.autograd.Function):
        @staticmethod
        def forward(x, factor):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, factor = inputs
            ctx.factor = factor
            ctx.save_for_backward(x, output)

        @staticmethod
        def backward(ctx, g):
            x, output = ctx.saved_tensors
            return g * output / x, None
    x = leaf(m)
    y = Scaled.apply(x, 3.0)
    y.sum().backward()
    return y, x.grad


@program
def vjp_in_place_of_backward(m):
    class Twice(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2
    x = leaf(m)
    Twice.apply(x).sum().backward()
    return x.grad


@program
def both_backward_and_vjp(m):
    class Twice(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2
    Twice.apply(leaf(m)).sum().backward()


@program
def error_in_backward(m):
    def backward(ctx, g):
        raise ValueError("from backward")
    call(m, lambda ctx, x: x * 2, backward, leaf(m)).sum().backward()


@program
def partial_targets_still_give_all(m):
    seen = []

    def backward(ctx, g):
        seen.append(list(ctx.needs_input_grad))
        return g, g * 2
    x, y = leaf(m), leaf(m)
    found = m.autograd.grad(call(m, lambda ctx, a, b: a + b * 2, backward, x, y).sum(), y)
    return found, seen


@program
def non_contiguous_and_empty(m):
    x = m.ones(0, 3, requires_grad=True)
    call(m, lambda ctx, a: a * 2, lambda ctx, g: g * 2, x).sum().backward()
    return list(x.grad.shape)


# ---- forward mode -------------------------------------------------------------------------------------------------

def dual_of(m, x, t=None):
    return m.autograd.forward_ad.make_dual(x, m.ones_like(x) if t is None else t)


@program
def tangents_flow(m):
    fw = m.autograd.forward_ad
    with fw.dual_level():
        x = dual_of(m, m.tensor([0.5, 1.0], dtype=m.float64))
        found = [x.sin(), x * x, x.sum(), x[0], x.view(2, 1), x @ x, m.stack([x, x * 2]), x.max(0)[0], x / 2, 2 - x,
                 m.where(x > 0.7, x * x, x), x.softmax(0), x.cumsum(0), m.cat([x, m.ones(1, dtype=m.float64)])]
        return [fw.unpack_dual(f).tangent for f in found]


@program
def no_tangent(m):
    fw = m.autograd.forward_ad
    with fw.dual_level():
        x = dual_of(m, m.ones(2))
        return [fw.unpack_dual(f).tangent for f in (m.ones(2), x.detach(), x > 0, x.argmax(), m.ones(2) * 2)]


@program
def dual_without_a_level(m):
    dual_of(m, m.ones(2))


@program
def levels_do_not_nest(m):
    with m.autograd.forward_ad.dual_level():
        with m.autograd.forward_ad.dual_level():
            pass


@program
def tangent_of_another_shape(m):
    with m.autograd.forward_ad.dual_level():
        dual_of(m, m.ones(2), m.ones(3))


@program
def tangent_of_another_dtype(m):
    with m.autograd.forward_ad.dual_level():
        dual_of(m, m.ones(2), m.ones(2, dtype=m.float64))


@program
def dual_of_integers(m):
    with m.autograd.forward_ad.dual_level():
        dual_of(m, m.ones(2, dtype=m.int64))


@program
def tangents_end_with_their_level(m):
    fw = m.autograd.forward_ad
    with fw.dual_level():
        x = dual_of(m, m.ones(2))
        y = x * 2
    outside = fw.unpack_dual(y).tangent if False else None
    with fw.dual_level():
        return fw.unpack_dual(y).tangent, outside


@program
def entered_and_left_by_hand(m):
    fw = m.autograd.forward_ad
    fw.enter_dual_level()
    x = dual_of(m, m.ones(2))
    tangent = fw.unpack_dual(x * 3).tangent
    fw.exit_dual_level()
    return tangent


@program
def leaving_no_level(m):
    m.autograd.forward_ad.exit_dual_level()


@program
def in_place_takes_tangents(m):
    fw = m.autograd.forward_ad
    with fw.dual_level():
        x = dual_of(m, m.tensor([1.0, 2.0], dtype=m.float64))
        a = m.ones(2, dtype=m.float64)
        a.mul_(x)
        b = x * 1
        b.mul_(x)
        c = x * 1
        c.sin_()
        d = x * 1
        d.zero_()
        e = x * 1
        e.copy_(m.ones(2))
        return [None if t is None else t.tolist() for t in (fw.unpack_dual(v).tangent for v in (a, b, c, d, e))]


@program
def views_share_tangents(m):
    fw = m.autograd.forward_ad
    with fw.dual_level():
        x = dual_of(m, m.tensor([1.0, 2.0, 3.0], dtype=m.float64))
        base = x * 1
        view = base[:2]
        view.mul_(x[:2])
        plain = m.zeros(3, dtype=m.float64)
        plain[1:].add_(x[1:])
        written = m.zeros(3, dtype=m.float64)
        written[0] = x[2]
        return [fw.unpack_dual(v).tangent for v in (base, view, plain, written)]


@program
def forward_over_reverse(m):
    fw = m.autograd.forward_ad
    x = m.tensor([1.0, 2.0], dtype=m.float64, requires_grad=True)
    with fw.dual_level():
        d = dual_of(m, x)
        grad, = m.autograd.grad((d ** 3).sum(), d, create_graph=True)
        primal, tangent = fw.unpack_dual(grad)
        return primal, tangent


@program
def reverse_over_forward(m):
    fw = m.autograd.forward_ad
    x = m.tensor([1.0, 2.0], dtype=m.float64, requires_grad=True)
    with fw.dual_level():
        tangent = fw.unpack_dual((dual_of(m, x) ** 3).sum()).tangent
        return m.autograd.grad(tangent, x), tangent.requires_grad


@program
def forward_mode_without_grad(m):
    fw = m.autograd.forward_ad
    with m.no_grad(), fw.dual_level():
        return fw.unpack_dual(dual_of(m, m.ones(2)) * 3).tangent


@program
def unpack_gives_a_view(m):
    fw = m.autograd.forward_ad
    with fw.dual_level():
        x = m.ones(2)
        d = dual_of(m, x)
        primal, tangent = fw.unpack_dual(d)
        return primal.data_ptr() == x.data_ptr(), fw.unpack_dual(primal).tangent


@program
def jvp_of_a_function(m):
    class Cube(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x ** 3

        @staticmethod
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0] ** 2

        @staticmethod
        def jvp(ctx, x_t):
            x, = ctx.saved_tensors
            return x_t * 3 * x ** 2
    fw = m.autograd.forward_ad
    with fw.dual_level():
        return fw.unpack_dual(Cube.apply(dual_of(m, m.tensor([2.0], dtype=m.float64)))).tangent


@program
def a_function_without_jvp(m):
    with m.autograd.forward_ad.dual_level():
        call(m, lambda ctx, x: x * 2, lambda ctx, g: g, dual_of(m, m.ones(2)))


@program
def a_jvp_of_the_wrong_shape(m):
    with m.autograd.forward_ad.dual_level():
        call(m, lambda ctx, x: x * 2, lambda ctx, g: g, dual_of(m, m.ones(2)), jvp=lambda ctx, t: t[:1])


@program
def a_jvp_gives_too_many(m):
    with m.autograd.forward_ad.dual_level():
        call(m, lambda ctx, x: x * 2, lambda ctx, g: g, dual_of(m, m.ones(2)), jvp=lambda ctx, t: (t, t))


# ---- functional ---------------------------------------------------------------------------------------------------

F = lambda m: m.autograd.functional                         # noqa: E731


def x2(m):
    return m.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=m.float64)


@program
def functional_jacobians(m):
    x, y = x2(m), m.tensor([1.0, 2.0], dtype=m.float64)
    return [F(m).jacobian(lambda a: a.exp().sum(1), x), F(m).jacobian(lambda a, b: a @ b, (x, y)),
            F(m).jacobian(lambda a: (a.sum(), a * 2), y), F(m).jacobian(lambda a, b: (a.sum(), b * 2), (x, y)),
            F(m).jacobian(lambda a: m.ones(2, dtype=m.float64), y), F(m).jacobian(lambda a: a.sum(), y),
            F(m).jacobian(lambda a: a * 2, m.tensor(3.0))]


@program
def functional_jacobians_by_other_strategies(m):
    x = x2(m)
    return [F(m).jacobian(lambda a: a.exp().sum(1), x, vectorize=True),
            F(m).jacobian(lambda a: a.exp().sum(1), x, vectorize=True, strategy="forward-mode")]


@program
def functional_jacobian_unknown_strategy(m):
    F(m).jacobian(lambda a: a * 2, x2(m), vectorize=True, strategy="sideways")


@program
def functional_jacobian_forward_without_vectorize(m):
    F(m).jacobian(lambda a: a * 2, x2(m), strategy="forward-mode")


@program
def functional_jacobian_strict(m):
    F(m).jacobian(lambda a: m.ones(2, dtype=m.float64), x2(m), strict=True)


@program
def functional_jacobian_strict_unused_input(m):
    F(m).jacobian(lambda a, b: a * 2, (x2(m), x2(m)), strict=True)


@program
def functional_jacobian_create_graph(m):
    x = m.tensor([1.0, 2.0], dtype=m.float64, requires_grad=True)
    j = F(m).jacobian(lambda a: a ** 3, x, create_graph=True)
    return j.requires_grad, m.autograd.grad(j.sum(), x)


@program
def functional_inputs_no_tensors(m):
    F(m).jacobian(lambda a: a * 2, (x2(m), 3))


@program
def functional_outputs_no_tensors(m):
    F(m).jacobian(lambda a: 3, x2(m))


@program
def functional_outputs_a_list(m):
    return F(m).jacobian(lambda a: [a.sum(), a * 2], m.ones(2, dtype=m.float64))


@program
def functional_vjps(m):
    x, v = x2(m), m.tensor([1.0, 2.0], dtype=m.float64)
    return [F(m).vjp(lambda a: a.exp().sum(1), x, v), F(m).vjp(lambda a: a.sum(), x),
            F(m).vjp(lambda a, b: a @ b, (x, v), v), F(m).vjp(lambda a: (a.sum(), a * 2), x, (m.tensor(1.0), x))]


@program
def functional_vjp_without_v(m):
    F(m).vjp(lambda a: a * 2, x2(m))


@program
def functional_vjp_wrong_v(m):
    F(m).vjp(lambda a: a * 2, x2(m), m.ones(3, dtype=m.float64))


@program
def functional_vjp_wrong_count(m):
    F(m).vjp(lambda a: (a * 2, a), x2(m), x2(m))


@program
def functional_vjp_strict(m):
    F(m).vjp(lambda a: m.ones(1, dtype=m.float64), x2(m), m.ones(1, dtype=m.float64), strict=True)


@program
def functional_jvps(m):
    x, v = x2(m), m.tensor([1.0, 2.0], dtype=m.float64)
    return [F(m).jvp(lambda a: a.exp().sum(1), x, x), F(m).jvp(lambda a: a * x, m.tensor(2.0, dtype=m.float64)),
            F(m).jvp(lambda a, b: a @ b, (x, v), (x, v)), F(m).jvp(lambda a: (a.sum(), a * 2), v, v)]


@program
def functional_jvp_without_v(m):
    F(m).jvp(lambda a: a * 2, x2(m))


@program
def functional_jvp_strict(m):
    F(m).jvp(lambda a: m.ones(1, dtype=m.float64), x2(m), x2(m), strict=True)


@program
def functional_hessians(m):
    x, y = x2(m), m.tensor([1.0, 2.0], dtype=m.float64)
    return [F(m).hessian(lambda a: (a ** 3).sum(), y), F(m).hessian(lambda a, b: (a @ b).prod(), (x, y)),
            F(m).hessian(lambda a: a.sum(), y), F(m).hessian(lambda a: (a ** 2).sum().view(1), y)]


@program
def functional_hessian_of_a_vector(m):
    F(m).hessian(lambda a: a * 2, x2(m))


@program
def functional_hessian_of_a_tuple(m):
    F(m).hessian(lambda a: (a.sum(), a.sum()), x2(m))


@program
def functional_hessian_strict(m):
    F(m).hessian(lambda a: a.sum(), x2(m), strict=True)


@program
def functional_hvp_and_vhp(m):
    y, v = m.tensor([1.0, 2.0], dtype=m.float64), m.tensor([3.0, 4.0], dtype=m.float64)
    f = lambda a: (a ** 3).sum() * a[0]                       # noqa: E731
    return [F(m).hvp(f, y, v), F(m).vhp(f, y, v), F(m).hvp(lambda a, b: (a * b).sum(), (y, v), (v, y)),
            F(m).vhp(lambda a, b: (a * b).sum(), (y, v), (v, y)), F(m).hvp(lambda a: a.sum(), y, v)]


@program
def functional_hvp_wrong_v(m):
    F(m).hvp(lambda a: a.sum(), x2(m), m.ones(3, dtype=m.float64))


@program
def functional_vhp_strict(m):
    F(m).vhp(lambda a: a.sum(), x2(m), x2(m), strict=True)


@program
def functional_hvp_strict(m):
    F(m).hvp(lambda a: a.sum(), x2(m), x2(m), strict=True)


@program
def functional_vhp_of_a_constant_strict(m):
    F(m).vhp(lambda a: m.ones(()), x2(m), x2(m), strict=True)


# ---- gradcheck ----------------------------------------------------------------------------------------------------

def wrong(m):
    return function_of(m, lambda ctx, x: x * 2, lambda ctx, g: g * 3)


def check(m, f, *inputs, **options):
    return m.autograd.gradcheck(f, inputs, **options)


@program
def gradcheck_passes(m):
    x, y = leaf(m), leaf(m, 4.0, 5.0, 6.0)
    return check(m, lambda a, b: (a * b, a.sin()), x, y), check(m, m.exp, x, fast_mode=True), \
        m.autograd.gradgradcheck(lambda a: a ** 3, (x,)), check(m, m.sin, x, check_forward_ad=True)


@program
def gradcheck_of_a_wrong_backward(m):
    check(m, wrong(m).apply, leaf(m))


@program
def gradcheck_answers_false(m):
    return check(m, wrong(m).apply, leaf(m), raise_exception=False)


@program
def gradcheck_fast_of_a_wrong_backward(m):
    return check(m, wrong(m).apply, leaf(m), fast_mode=True, raise_exception=False)


@program
def gradcheck_without_tracked_inputs(m):
    check(m, m.sin, m.ones(2, dtype=m.float64))


@program
def gradcheck_of_floats_warns(m):
    return check(m, m.sin, m.ones(2, requires_grad=True), raise_exception=False)


@program
def gradcheck_of_an_expanded_input(m):
    check(m, m.sin, m.ones(1, dtype=m.float64).expand(3).requires_grad_())


@program
def gradcheck_of_a_detached_function(m):
    check(m, lambda x: x.detach() * 2, leaf(m))


@program
def gradcheck_of_a_constant_function(m):
    return check(m, lambda x: m.ones(2, dtype=m.float64), leaf(m))


@program
def gradcheck_of_an_offset_backward(m):
    check(
        m, function_of(m, lambda ctx, x: x * 2, lambda ctx, g: g * 2 + 0 * g + (g == 0).to(g.dtype) * 0).apply, leaf(m)
    )


@program
def gradcheck_of_a_backward_that_ignores_its_gradient(m):
    check(m, function_of(m, lambda ctx, x: x.sum(), lambda ctx, g: m.ones(3, dtype=m.float64)).apply, leaf(m))


@program
def gradcheck_of_a_random_backward(m):
    state = []

    def backward(ctx, g):
        state.append(1)
        return g * 2 + len(state) * 1e-9
    check(m, function_of(m, lambda ctx, x: x * 2, backward).apply, leaf(m))


@program
def gradcheck_that_fails_on_undefined_gradients(m):
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3
    check(m, function_of(m, forward, lambda ctx, g, h: g * 2 + h * 3).apply, leaf(m))


@program
def gradcheck_without_any_mode(m):
    check(m, m.sin, leaf(m), check_backward_ad=False)


@program
def gradcheck_relu_at_zero(m):
    return check(m, m.relu, leaf(m, 0.0, 1.0), raise_exception=False), check(m, m.abs, leaf(m, 0.0, 1.0),
                                                                            raise_exception=False)


@program
def gradgradcheck_of_a_wrong_second_derivative(m):
    once = function_of(m, lambda ctx, x: x ** 3, lambda ctx, g: g * 0 + 1)
    return m.autograd.gradgradcheck(once.apply, (leaf(m),), raise_exception=False)


@program
def gradcheck_of_a_wrong_jvp(m):
    cube = function_of(m, lambda ctx, x: x * 2, lambda ctx, g: g * 2, jvp=lambda ctx, t: t * 3)
    check(m, cube.apply, leaf(m), check_forward_ad=True)


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_same_outcome(name):
    expected, found = outcome(PROGRAMS[name], torch), outcome(PROGRAMS[name], teachtorch)
    assert found == expected
