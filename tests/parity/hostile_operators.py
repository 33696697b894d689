"""Uses of torch.library that go wrong, each a program of the library: what is raised must be the same, to the word."""

import importlib
import re
import typing
from typing import List, Optional, Sequence, Union

from tests.parity.collected import functions_of_a_library

NOTHING = "nothing"  # the result of an operator that only changes its arguments


def of(lib):
    return importlib.import_module(lib.__name__ + ".library")


def annotated(function, lib, result, **types):
    """The function with these annotations; strings name types of the library."""
    function.__annotations__ = {**types, "return": result}
    return function


def op(lib, name, function, result=None, mutates_args=(), types=None, **options):
    """A custom operator of one Tensor (or of what `types` says)."""
    types = types or {"x": lib.Tensor}
    made = annotated(function, lib, {None: lib.Tensor, NOTHING: None}.get(result, result), **types)
    return of(lib).custom_op(f"hostile::{name}", made, mutates_args=mutates_args, **options)


# ---- schemas ---------------------------------------------------------------------------------------------------------


def no_annotation(lib):
    def f(x):
        return x.clone()

    return of(lib).custom_op("hostile::no_annotation", f, mutates_args=())


def no_return_annotation(lib):
    def f(x):
        return x.clone()

    f.__annotations__ = {"x": lib.Tensor}
    return of(lib).custom_op("hostile::no_return", f, mutates_args=())


def unsupported_type(lib):
    return op(lib, "unsupported", lambda x: x, types={"x": set})


def unsupported_return(lib):
    return op(lib, "unsupported_return", lambda x: x, result=str)


def unsupported_default(lib):
    def f(x, n=(1, 2)):
        return x.clone()

    return op(lib, "bad_default", f, types={"x": lib.Tensor, "n": Sequence[int]})


def var_positional(lib):
    def f(*x):
        return x[0].clone()

    return op(lib, "stars", f)


def positional_only(lib):
    def f(x, /):
        return x.clone()

    return op(lib, "positional_only", f)


def no_namespace(lib):
    return of(lib).custom_op("nothing", annotated(lambda x: x.clone(), lib, lib.Tensor, x=lib.Tensor), mutates_args=())


def two_namespaces(lib):
    return of(lib).custom_op("a::b::c", annotated(lambda x: x.clone(), lib, lib.Tensor, x=lib.Tensor), mutates_args=())


def dotted_name(lib):
    return repr(
        of(lib).custom_op(
            "hostile::a.b", annotated(lambda x: x.clone(), lib, lib.Tensor, x=lib.Tensor), mutates_args=()
        )
    )


def no_mutates_args(lib):
    return of(lib).custom_op("hostile::none", annotated(lambda x: x.clone(), lib, lib.Tensor, x=lib.Tensor))


def mutates_unknown_name(lib):
    return op(lib, "mutates_y", lambda x: x.clone(), mutates_args=("y",))


def mutates_a_number(lib):
    return op(lib, "mutates_n", lambda x, n: x.clone(), types={"x": lib.Tensor, "n": int}, mutates_args=("n",))


def mutates_a_word(lib):
    return op(lib, "mutates_word", lambda x: x.clone(), mutates_args="x")


def mutates_everything(lib):
    return str(
        op(
            lib, "mutates_all", lambda x, n: x.clone(), types={"x": lib.Tensor, "n": int}, mutates_args="unknown"
        )._opoverload._schema
    )


def returns_what_it_mutates(lib):
    made = op(lib, "returns_mutated", lambda x: x.add_(1), mutates_args=("x",))
    return made(lib.ones(2))


def wrong_schema_text(lib):
    return of(lib).custom_op("hostile::wrong_schema", lambda x: x, mutates_args=(), schema="(Tensor x -> Tensor")


def schema_with_a_name(lib):
    return of(lib).custom_op("hostile::named_schema", lambda x: x, mutates_args=(), schema="foo(Tensor x) -> Tensor")


def schema_and_mutates(lib):
    made = of(lib).custom_op(
        "hostile::schema_mutates", lambda x: x.clone(), mutates_args=(), schema="(Tensor(a!) x) -> Tensor"
    )
    return str(made._opoverload._schema)


def inferred(lib):
    """The schema of many annotations."""
    T = lib.Tensor
    found = []
    for kind in (
        T,
        Optional[T],
        Sequence[T],
        List[T],
        Sequence[Optional[T]],
        List[Optional[T]],
        int,
        Optional[int],
        Sequence[int],
        List[int],
        Optional[Sequence[int]],
        float,
        Optional[float],
        Sequence[float],
        bool,
        Optional[bool],
        Sequence[bool],
        str,
        Optional[str],
        lib.types.Number,
        Optional[lib.types.Number],
        Sequence[lib.types.Number],
        lib.dtype,
        Optional[lib.dtype],
        lib.device,
        Optional[lib.device],
        Optional[Sequence[T]],
        list[int],
        list[T],
        tuple[int, int],
        Union[int, float],
        Union[int, None],
        int | None,
        T | None,
        dict,
        typing.Any,
        Sequence[str],
        complex,
        Optional[List[T]],
        Sequence[Sequence[int]],
    ):

        def f(a):
            return None

        f.__annotations__ = {"a": kind, "return": None}
        try:
            found.append(of(lib).infer_schema(f, mutates_args=()))
        except ValueError as error:
            found.append("unsupported type" in str(error))
    return found


def inferred_results(lib):
    T = lib.Tensor
    found = []
    for kind in (
        T,
        None,
        int,
        float,
        bool,
        lib.types.Number,
        tuple[T, T],
        List[T],
        tuple[T, int],
        typing.Tuple[T, float],
        Sequence[T],
        list[T],
        tuple[List[T], T],
    ):

        def f(a: int):
            return None

        f.__annotations__["return"] = kind
        try:
            found.append(of(lib).infer_schema(f, mutates_args=()))
        except ValueError as error:
            found.append("unsupported type" in str(error))
    return found


def inferred_defaults(lib):
    def f(
        a: int = 1,
        b: float = 2.0,
        c: float = 1e-5,
        d: bool = True,
        e: str = "x",
        g: Optional[int] = None,
        *,
        h: float = 3,
    ):
        return None

    f.__annotations__["return"] = None

    def g(a=lib.float32, b=lib.device("cpu"), c=lib.int64):
        return None

    g.__annotations__ = {"a": lib.dtype, "b": lib.device, "c": Optional[lib.dtype], "return": None}
    return of(lib).infer_schema(f, mutates_args=()), of(lib).infer_schema(g, mutates_args=())


def inferred_name(lib):
    def f(x):
        return None

    f.__annotations__ = {"x": lib.Tensor, "return": None}
    return of(lib).infer_schema(f, mutates_args={"x"}, op_name="foo")


# ---- calls -----------------------------------------------------------------------------------------------------------


def three(lib, name):
    def f(x, n, *, flag=False):
        return x * n

    return op(lib, name, f, types={"x": lib.Tensor, "n": int, "flag": bool})


def too_many(lib):
    return three(lib, "too_many")(lib.ones(2), 1, 2, 3)


def too_few(lib):
    return three(lib, "too_few")(lib.ones(2))


def keyword_by_place(lib):
    return three(lib, "by_place")(lib.ones(2), 1, True)


def unknown_keyword(lib):
    return three(lib, "unknown_keyword")(lib.ones(2), 1, flog=True)


def twice_given(lib):
    return three(lib, "twice")(lib.ones(2), 1, n=2)


def number_for_tensor(lib):
    return three(lib, "number")(3.5, 1)


def text_for_number(lib):
    return three(lib, "text")(lib.ones(2), "1")


def float_for_int(lib):
    return three(lib, "float")(lib.ones(2), 1.5)


def none_for_tensor(lib):
    return three(lib, "none")(None, 1)


def kinds(lib, name):
    def f(x, ts, ns, s, d, dev, fl, b):
        return lib.zeros(len(ts) + len(ns) + len(s), dtype=d)

    T = lib.Tensor
    types = {
        "x": Optional[T],
        "ts": Sequence[T],
        "ns": Sequence[int],
        "s": str,
        "d": lib.dtype,
        "dev": lib.device,
        "fl": float,
        "b": bool,
    }
    return op(lib, name, f, types=types)


def all_kinds(lib):
    made, x = kinds(lib, "kinds"), lib.ones(2)
    return [
        made(None, [x], [1, 2], "abc", lib.int32, lib.device("cpu"), 1, True),
        made(x, (x, x), (1,), "", lib.float64, "cpu", 1.5, False),
        str(made._opoverload._schema),
    ]


def wrong_kind(position, value):
    def program(lib):
        x = lib.ones(2)
        args = [None, [x], [1, 2], "abc", lib.int32, lib.device("cpu"), 1.0, True]
        args[position] = value(lib)
        return kinds(lib, f"kind{position}")(*args)

    return program


def optional_list(lib):
    def f(xs, n=None):
        return sum([x for x in xs if x is not None]) + (n or 0)

    made = op(lib, "optional_list", f, types={"xs": Sequence[Optional[lib.Tensor]], "n": Optional[int]})
    return [made([lib.ones(2), None, lib.ones(2)]), made([None, lib.ones(1)], 3)]


def not_a_device(lib):
    made = op(lib, "on_cuda", lambda x: x.clone(), device_types="cuda")
    return made(lib.ones(2))


def unknown_device(lib):
    return op(lib, "on_nothing", lambda x: x.clone(), device_types="nothing")


# ---- aliases, results ------------------------------------------------------------------------------------------------


def returns_its_input(lib):
    return op(lib, "identity", lambda x: x)(lib.ones(2))


def returns_a_view(lib):
    return op(lib, "view", lambda x: x.view(-1))(lib.ones(2))


def returns_twice(lib):
    def f(x):
        y = x.clone()
        return y, y

    return op(lib, "twice_returned", f, result=tuple[lib.Tensor, lib.Tensor])(lib.ones(2))


def returns_a_list_with_its_input(lib):
    return op(lib, "list_with_input", lambda x: [x.clone(), x], result=List[lib.Tensor])(lib.ones(2))


def returns_an_input_of_a_list(lib):
    return op(lib, "of_list", lambda xs: xs[1], types={"xs": Sequence[lib.Tensor]})([lib.ones(2), lib.ones(2)])


def returns_none(lib):
    return op(lib, "none_returned", lambda x: None)(lib.ones(2))


def returns_its_sparse_input(lib):
    return op(lib, "sparse_identity", lambda x: x)(lib.eye(2).to_sparse())


def returns_a_view_of_another_dtype(lib):
    return op(lib, "as_ints", lambda x: x.view(lib.int32))(lib.ones(2))


def returns_empty_inputs(lib):
    """Empty tensors share no memory that anybody could change, but a storage."""
    return op(lib, "empty_identity", lambda x: x[:0])(lib.ones(2))


def mutates_undeclared(lib):
    return op(lib, "undeclared", lambda x: x.add_(1).clone())(lib.ones(2))


def mutates_a_leaf(lib):
    made = op(lib, "mutates_leaf", lambda x: x.add_(1) and None, result=NOTHING, mutates_args=("x",))
    return made(lib.ones(1, requires_grad=True))


def mutates_counts(lib):
    def f(x):
        x.add_(1)

    made, x = op(lib, "counts", f, result=NOTHING, mutates_args=("x",)), lib.ones(1)
    before = x._version
    made(x)
    return x._version - before


def returns_parts_of_its_sparse_input(lib):
    def f(x):
        return lib.sparse_coo_tensor(x._indices(), x._values() * 2, x.shape)

    return op(lib, "sparse_parts", f)(lib.eye(2).to_sparse())


def makes_dense_of_sparse(lib):
    return op(lib, "sparse_dense", lambda x: x.to_dense())(lib.eye(2).to_sparse())


def no_tensor_no_device(lib):
    return op(lib, "no_tensor", lambda n: lib.ones(n), types={"n": int}, device_types="cpu")


def device_alone(lib):
    made = op(
        lib,
        "device_alone",
        lambda n, device: lib.ones(n, device=device),
        types={"n": int, "device": lib.device},
        device_types="cpu",
    )
    return made(2, lib.device("cpu"))


def device_without_kernel(lib):
    made = op(
        lib,
        "device_alone2",
        lambda n, device: lib.ones(n, device=device),
        types={"n": int, "device": lib.device},
        device_types="cuda",
    )
    return made(2, lib.device("cpu"))


def view_operator(lib):
    made = of(lib).custom_op(
        "hostile::viewing", lambda x: x.view(-1), mutates_args=(), schema="(Tensor(a) x) -> Tensor(a)"
    )
    x = lib.ones(2, 2)
    y = made(x)
    y.add_(1)
    return [x, y, str(made._opoverload._schema)]


# ---- fake ------------------------------------------------------------------------------------------------------------


def no_fake(lib):
    return op(lib, "no_fake", lambda x: x.clone())(lib.ones(2, device="meta"))


def no_fake_in_fake_mode(lib):
    mode = importlib.import_module(lib.__name__ + "._subclasses.fake_tensor").FakeTensorMode
    made = op(lib, "no_fake_mode", lambda x: x.clone())
    with mode():
        return made(lib.ones(2))


def fake_twice(lib):
    made = op(lib, "fake_twice", lambda x: x.clone())
    made.register_fake(lambda x: lib.empty_like(x))
    made.register_fake(lambda x: lib.empty_like(x))
    return tuple(made(lib.ones(2, device="meta")).shape)


def fake_of_nothing(lib):
    return of(lib).register_fake("hostile::nowhere", lambda x: x)


def fake_of_no_operator(lib):
    return of(lib).register_fake(3, lambda x: x)


def ctx_outside(lib):
    return of(lib).get_ctx()


def ctx_in_fake(lib):
    """A size that is known only when the operator runs."""
    made = op(lib, "nonzeros", lambda x: x.nonzero())

    @made.register_fake
    def fake(x):
        return x.new_empty((of(lib).get_ctx().new_dynamic_size(), x.dim()), dtype=lib.int64)

    return made(lib.tensor([0.0, 1.0, 2.0]))


def ctx_on_meta(lib):
    made = op(lib, "nonzeros_meta", lambda x: x.nonzero())

    @made.register_fake
    def fake(x):
        return x.new_empty((of(lib).get_ctx().new_dynamic_size(), x.dim()), dtype=lib.int64)

    return made(lib.ones(3, device="meta"))


def ctx_in_fake_mode(lib):
    mode = importlib.import_module(lib.__name__ + "._subclasses.fake_tensor").FakeTensorMode
    made = op(lib, "nonzeros_fake", lambda x: x.nonzero())

    @made.register_fake
    def fake(x):
        return x.new_empty((of(lib).get_ctx().new_dynamic_size(), x.dim()), dtype=lib.int64)

    with mode():
        return made(lib.ones(3))


def mutating_without_fake(lib):
    made = op(lib, "mutates_fake", lambda x: None, result=NOTHING, mutates_args=("x",))
    return made(lib.ones(2, device="meta"))


def fake_registered_twice(lib):
    made = op(lib, "fake_override", lambda x: x.clone())
    of(lib).register_fake("hostile::fake_override", lambda x: lib.empty_like(x))
    of(lib).register_fake("hostile::fake_override", lambda x: lib.empty_like(x).t())
    return tuple(made(lib.ones(2, 3, device="meta")).shape)


def rule_for_a_mode(lib):
    """What a mode does with one operator is registered beside both."""
    python_dispatch = importlib.import_module(lib.__name__ + ".utils._python_dispatch")

    class Mode(python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    made = op(lib, "ruled", lambda x: x.clone())

    @of(lib).register_torch_dispatch("hostile::ruled", Mode)
    def rule(mode, func, types, args, kwargs):
        return [type(mode).__name__, str(func), len(types)] and args[0] + 10

    x = lib.ones(2)
    with Mode():
        inside = made(x), x.clone()
    return [made(x), *inside]


def rule_for_no_operator(lib):
    return of(lib).register_torch_dispatch(3, int, lambda *a: None)


# ---- autograd --------------------------------------------------------------------------------------------------------


def no_autograd(lib):
    y = op(lib, "no_autograd", lambda x: x.clone())(lib.ones(2, requires_grad=True))
    return y.sum().backward()


def with_backward(lib, name, backward, setup_context=None, types=None, function=lambda x: x * 2, result=None):
    made = op(lib, name, function, types=types, result=result)
    made.register_autograd(backward, setup_context=setup_context)
    return made


def wrong_number_of_gradients(lib):
    y = with_backward(lib, "two_grads", lambda ctx, g: (g, g))(lib.ones(2, requires_grad=True))
    return y.sum().backward()


def too_few_gradients(lib):
    made = with_backward(
        lib, "few_grads", lambda ctx, g: g, types={"x": lib.Tensor, "k": float}, function=lambda x, k: x * k
    )
    return made(lib.ones(2, requires_grad=True), 2.0).sum().backward()


def gradient_of_wrong_shape(lib):
    y = with_backward(lib, "wrong_shape", lambda ctx, g: g.new_ones(3))(lib.ones(2, requires_grad=True))
    return y.sum().backward()


def gradient_for_a_number(lib):
    made = with_backward(
        lib, "number_grad", lambda ctx, g: (g, 1.0), types={"x": lib.Tensor, "k": float}, function=lambda x, k: x * k
    )
    x = lib.ones(2, requires_grad=True)
    made(x, 2.0).sum().backward()
    return x.grad


def gradient_for_a_number_tensor(lib):
    made = with_backward(
        lib, "number_grad_t", lambda ctx, g: (g, g), types={"x": lib.Tensor, "k": float}, function=lambda x, k: x * k
    )
    x = lib.ones(2, requires_grad=True)
    made(x, 2.0).sum().backward()
    return x.grad


def gradient_of_a_list(lib):
    made = with_backward(
        lib,
        "list_grad",
        lambda ctx, g: [g, g * 2],
        types={"xs": Sequence[lib.Tensor]},
        function=lambda xs: xs[0] + xs[1],
    )
    xs = [lib.ones(2, requires_grad=True), lib.ones(2, requires_grad=True)]
    made(xs).sum().backward()
    return [x.grad for x in xs]


def gradient_of_a_list_nested(lib):
    made = with_backward(
        lib,
        "list_grad_nested",
        lambda ctx, g: ([g, g * 2],),
        types={"xs": Sequence[lib.Tensor]},
        function=lambda xs: xs[0] + xs[1],
    )
    xs = [lib.ones(2, requires_grad=True), lib.ones(2, requires_grad=True)]
    made(xs).sum().backward()
    return [x.grad for x in xs]


def short_list_gradient(lib):
    made = with_backward(
        lib, "short_list", lambda ctx, g: ([g],), types={"xs": Sequence[lib.Tensor]}, function=lambda xs: xs[0] + xs[1]
    )
    xs = [lib.ones(2, requires_grad=True), lib.ones(2, requires_grad=True)]
    return made(xs).sum().backward()


def context_with_wrong_names(lib):
    def setup(ctx, arguments, output):
        ctx.save_for_backward(arguments[0])

    made = with_backward(lib, "wrong_names", lambda ctx, g: g, setup)
    return made(lib.ones(2, requires_grad=True))


def context_that_fails(lib):
    def setup(ctx, inputs, output):
        raise KeyError("of the user's")

    return with_backward(lib, "failing_context", lambda ctx, g: g, setup)(lib.ones(2, requires_grad=True))


def context_returns(lib):
    def setup(ctx, inputs, output):
        return 3

    x = lib.ones(2, requires_grad=True)
    with_backward(lib, "returning_context", lambda ctx, g: g, setup)(x).sum().backward()
    return x.grad


def context_without_keywords(lib):
    def f(x, *, k=2.0):
        return x * k

    made = op(lib, "kw_context", f, types={"x": lib.Tensor, "k": float})
    made.register_autograd(lambda ctx, g: g, setup_context=lambda ctx, inputs, output: None)


def context_with_keywords(lib):
    def f(x, *, k=2.0):
        return x * k

    made = op(lib, "kw_context2", f, types={"x": lib.Tensor, "k": float})

    def setup(ctx, inputs, keyword_only_inputs, output):
        ctx.k = keyword_only_inputs["k"]

    made.register_autograd(lambda ctx, g: g * ctx.k, setup_context=setup)
    x = lib.ones(2, requires_grad=True)
    made(x, k=3.0).sum().backward()
    return x.grad


def keyword_only_tensor(lib):
    def f(x, *, y):
        return x * y

    made = op(lib, "kw_tensor", f, types={"x": lib.Tensor, "y": lib.Tensor})
    made.register_autograd(lambda ctx, g: g)


def autograd_of_a_mutating(lib):
    made = op(lib, "mutating", lambda x: None, result=NOTHING, mutates_args=("x",))
    made.register_autograd(lambda ctx, g: g)


def autograd_of_a_view(lib):
    of(lib).define("hostile::aliasing", "(Tensor(a) x) -> Tensor(a)")
    of(lib).register_autograd("hostile::aliasing", lambda ctx, g: g)


def saves_for_backward_twice(lib):
    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    made = with_backward(lib, "twice_backward", lambda ctx, g: g * ctx.saved_tensors[0], setup)
    y = made(lib.ones(2, requires_grad=True)).sum()
    y.backward()
    return y.backward()


def what_needs_gradients(lib):
    seen = []

    def backward(ctx, g):
        seen.append(ctx.needs_input_grad)
        return [g, None], g, None

    def f(xs, y, k):
        return xs[0] * y * k

    made = with_backward(
        lib, "needs", backward, types={"xs": Sequence[lib.Tensor], "y": lib.Tensor, "k": float}, function=f
    )
    made([lib.ones(1, requires_grad=True), lib.ones(1)], lib.ones(1), 2.0).sum().backward()
    flat = with_backward(
        lib,
        "needs_flat",
        lambda ctx, g: seen.append(ctx.needs_input_grad) or (g, None),
        types={"x": lib.Tensor, "k": float},
        function=lambda x, k: x * k,
    )
    flat(lib.ones(1, requires_grad=True), 2.0).sum().backward()
    return repr(seen)


def lists_among_results(lib):
    seen = []

    def backward(ctx, gs, g):
        seen.append([type(gs).__name__, [None if x is None else x.tolist() for x in gs], g.tolist()])
        return gs[0] + g

    made = with_backward(
        lib,
        "list_results",
        backward,
        function=lambda x: ([x * 1, x * 2], x * 3),
        result=tuple[List[lib.Tensor], lib.Tensor],
    )
    x = lib.ones(1, requires_grad=True)
    (a, b), c = made(x)
    (a + c).sum().backward()
    return [x.grad, repr(seen)]


def not_differentiable(lib):
    made = with_backward(lib, "int_result", lambda ctx, g: g, function=lambda x: x.long())
    return made(lib.ones(2, requires_grad=True)).requires_grad


def two_results_one_used(lib):
    made = with_backward(
        lib,
        "two_results",
        lambda ctx, g, h: g + h * 3,
        function=lambda x: (x * 2, x * 3),
        result=tuple[lib.Tensor, lib.Tensor],
    )
    x = lib.ones(2, requires_grad=True)
    made(x)[1].sum().backward()
    return x.grad


def node_name(lib):
    y = with_backward(lib, "named", lambda ctx, g: g)(lib.ones(2, requires_grad=True))
    return type(y.grad_fn).__name__


def autocast_of_a_wrong_kind(lib):
    return op(lib, "cast", lambda x: x.clone()).register_autocast(lib.device("cpu"), lib.bfloat16)


# ---- Library ---------------------------------------------------------------------------------------------------------


def defined_twice(lib):
    library = of(lib).Library("hostile_twice", "FRAGMENT")
    library.define("f(Tensor x) -> Tensor")
    library.define("f(Tensor x) -> Tensor")


def impl_of_wrong_type(lib):
    of(lib).define("hostile::wrong_type", "(Tensor x) -> Tensor")
    of(lib).impl("hostile::wrong_type", "nowhere", lambda x: x)


def library_of_wrong_kind(lib):
    return of(lib).Library("hostile_kind", "WRONG")


def impl_no_callable(lib):
    of(lib).Library("aten", "IMPL").impl("add.Tensor", 3, "CPU")


def impl_unknown_key(lib):
    of(lib).Library("aten", "IMPL").impl("neg", lambda x: x, "NOKEY")


def impl_twice(lib):
    first = of(lib).Library("hostile_impl_twice", "FRAGMENT")
    first.define("f(Tensor x) -> Tensor")
    first.impl("f", lambda x: x.clone(), "CPU")
    first.impl("f", lambda x: x.clone(), "CPU", allow_override=False)


def impl_of_a_number(lib):
    of(lib).Library("aten", "IMPL").impl(3, lambda x: x, "CPU")


def alias_analysis(lib):
    of(lib).Library("hostile_alias_analysis", "FRAGMENT").define("f(Tensor x) -> Tensor", "PURE_FUNCTION")


def kernel_of_a_number(lib):
    return of(lib).get_kernel(3, "CPU")


def register_for_a_number(lib):
    found = []
    for name, args in {
        "register_kernel": ("cpu", abs),
        "register_autograd": (abs,),
        "register_vmap": (abs,),
        "register_autocast": ("cpu", lib.bfloat16),
    }.items():
        try:
            getattr(of(lib), name)(3, *args)
        except Exception as error:
            found.append([type(error).__name__, str(error)])
    return found


def impl_other_namespace(lib):
    of(lib).Library("hostile_other", "IMPL").impl("aten::neg", lambda x: x, "CPU")


def without_kernel(lib):
    of(lib).define("hostile::without_kernel", "(Tensor x) -> Tensor")
    return lib.ops.hostile.without_kernel(lib.ones(2))


def no_such_operator(lib):
    return lib.ops.hostile.never_defined


def no_such_overload(lib):
    op(lib, "overloads", lambda x: x.clone())
    return lib.ops.hostile.overloads.other


def define_without_namespace(lib):
    of(lib).define("nothing", "(Tensor x) -> Tensor")


# ---- opcheck ---------------------------------------------------------------------------------------------------------


def checked(lib, made, *args, **options):
    return of(lib).opcheck(made, args, **options)


def opcheck_good(lib):
    made = with_backward(lib, "good", lambda ctx, g: g * 2)
    made.register_fake(lambda x: lib.empty_like(x))
    return checked(lib, made, lib.ones(2, requires_grad=True))


def opcheck_undeclared(lib):
    made = op(lib, "check_undeclared", lambda x: x.add_(1).clone())
    made.register_fake(lambda x: lib.empty_like(x))
    return checked(lib, made, lib.ones(2), test_utils="test_schema")


def opcheck_wrong_shape(lib):
    made = op(lib, "check_shape", lambda x: x.clone())
    made.register_fake(lambda x: x.new_empty(3))
    return checked(lib, made, lib.ones(2), test_utils="test_faketensor")


def opcheck_wrong_dtype(lib):
    made = op(lib, "check_dtype", lambda x: x.clone())
    made.register_fake(lambda x: x.new_empty(2, dtype=lib.int32))
    return checked(lib, made, lib.ones(2), test_utils="test_faketensor")


def opcheck_wrong_count(lib):
    made = op(lib, "check_count", lambda x: [x.clone()], result=List[lib.Tensor])
    made.register_fake(lambda x: [lib.empty_like(x), lib.empty_like(x)])
    return checked(lib, made, lib.ones(2), test_utils="test_faketensor")


def opcheck_no_fake(lib):
    return checked(lib, op(lib, "check_no_fake", lambda x: x.clone()), lib.ones(2), test_utils="test_faketensor")


def opcheck_unknown(lib):
    return checked(lib, op(lib, "check_unknown", lambda x: x.clone()), lib.ones(2), test_utils="test_nothing")


def opcheck_quiet(lib):
    made = op(lib, "check_quiet", lambda x: x.add_(1).clone())
    made.register_fake(lambda x: lib.empty_like(x))
    found = checked(lib, made, lib.ones(2), raise_exception=False)
    return {name: type(result).__name__ for name, result in found.items()}


def opcheck_no_operator(lib):
    return of(lib).opcheck(lambda x: x, (lib.ones(2),))


def opcheck_autograd_below(lib):
    """A gradient that a kernel of the backend records by itself."""

    class Twice(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    of(lib).define("hostile::below", "(Tensor x) -> Tensor")
    of(lib).impl("hostile::below", "cpu", Twice.apply)
    return checked(
        lib, lib.ops.hostile.below.default, lib.ones(2, requires_grad=True), test_utils="test_autograd_registration"
    )


PROGRAMS = functions_of_a_library(globals(), but=("of",))
PROGRAMS |= {
    f"wrong_kind_{i}": wrong_kind(i, value)
    for i, value in enumerate(
        [
            lambda lib: 3,
            lambda lib: [3],
            lambda lib: [1.5],
            lambda lib: 3,
            lambda lib: 3.5,
            lambda lib: 3.5,
            lambda lib: "x",
            lambda lib: "x",
        ]
    )
}

# Where the words differ: PyTorch's are those of its C++, of Python's unpacking, or list dispatch keys and devices.
OTHER_WORDS = (
    "returns_its_sparse_input",
    "returns_parts_of_its_sparse_input",
    "none_for_tensor",
    "no_fake_in_fake_mode",
    "no_namespace",
    "two_namespaces",
    "wrong_schema_text",
    "not_a_device",
    "unknown_device",
    "short_list_gradient",
    "impl_of_wrong_type",
    "impl_unknown_key",
    "without_kernel",
)


def core(text):
    """An error's text without the parts in which the libraries differ."""
    for place, instead in (
        (r"\(with implementation in .*?\): The", "The"),
        (r"The valid types are: .*? Got func", "Got func"),
        (r"Cast error details: .*", ""),
        (r" Duplicate registration: .*", ""),
        (r"  \(Error occurred while processing .*", ""),
        (r"'(tests\.)?[\w./]*hostile_operators[\w.:]*'", "HERE"),
        (r" \(/[\w./-]*:\d+\)", ""),
        (r"torch\.core\.device\.", "torch."),
    ):
        text = re.sub(place, instead, text, flags=re.DOTALL)
    return text
