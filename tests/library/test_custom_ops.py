"""teachtorch.library beside torch.library."""
import importlib
import itertools
import typing

import pytest

BOTH = ["torch", "teachtorch"]
numbers = itertools.count()


@pytest.fixture(params=BOTH)
def torch(request):
    importlib.import_module(request.param + ".library")
    return importlib.import_module(request.param)


def fresh_name():
    return f"exam::op{next(numbers)}"


def annotated(function, returns, **parameters):
    function.__annotations__ = {**parameters, "return": returns}
    return function


def scale(torch, name=None, **options):
    """An operator `x * k`, with its name."""
    def function(x, k=2.0):
        return x * k
    name = name or fresh_name()
    annotated(function, torch.Tensor, x=torch.Tensor, k=float)
    return torch.library.custom_op(name, function, mutates_args=(), **options), name


def packet(torch, name):
    space, _, short = name.partition("::")
    return getattr(getattr(torch.ops, space), short)


# ---- schemas -----------------------------------------------------------------------------------------------

def prototypes(torch):
    T = torch.Tensor
    return {
        "numbers": (lambda x, k=2.0, n=None, b=True, s="a": x,
                    dict(x=T, k=float, n=typing.Optional[int], b=bool, s=str), T),
        "lists": (lambda x, y, z: x, dict(x=typing.List[T], y=typing.Sequence[int], z=typing.Optional[T]), T),
        "dtype and device": (lambda x, d, e: x, dict(x=T, d=torch.dtype, e=torch.device), T),
        "union": (lambda x, n: x, dict(x=T, n=typing.Union[int, float, bool]), T),
        "two results": (lambda x: x, dict(x=T), typing.Tuple[T, T]),
        "a list of results": (lambda x: x, dict(x=T), typing.List[T]),
        "no result": (lambda x: x, dict(x=T), None),
        "a number": (lambda x: x, dict(x=T), float),
        "optional list": (lambda x, l: x, dict(x=T, l=typing.Optional[typing.Sequence[float]]), T),
    }


@pytest.mark.parametrize("name", ["numbers", "lists", "dtype and device", "union", "two results", "a list of results",
                                  "no result", "a number", "optional list"])
@pytest.mark.parametrize("mutates_args", [(), ("x",), "unknown"])
def test_schemas_are_pytorchs(name, mutates_args):
    found = []
    for library in BOTH:
        torch = importlib.import_module(library)
        function, parameters, returns = prototypes(torch)[name]
        found.append(torch.library.infer_schema(annotated(function, returns, **parameters), mutates_args=mutates_args))
    assert found[1] == found[0]


BAD = {
    "no annotation": lambda torch: (lambda x, y: x, dict(x=torch.Tensor), torch.Tensor, ()),
    "a dict": lambda torch: (lambda x: x, dict(x=dict), torch.Tensor, ()),
    "returns a dict": lambda torch: (lambda x: x, dict(x=torch.Tensor), dict, ()),
    "star": lambda torch: (lambda *x: x, dict(x=torch.Tensor), torch.Tensor, ()),
    "unknown mutated": lambda torch: (lambda x: x, dict(x=torch.Tensor), torch.Tensor, ("ghost",)),
    "mutated number": lambda torch: (lambda x, n: x, dict(x=torch.Tensor, n=int), torch.Tensor, ("n",)),
    "a tuple for a default": lambda torch: (lambda x, n=(1, 2): x, dict(x=torch.Tensor, n=typing.List[int]),
                                            torch.Tensor, ()),
}


@pytest.mark.parametrize("case", BAD)
def test_what_has_no_schema_is_refused(torch, case):
    function, parameters, returns, mutated = BAD[case](torch)
    with pytest.raises(ValueError, match=r"infer_schema\(func\)"):
        torch.library.custom_op(fresh_name(), annotated(function, returns, **parameters), mutates_args=mutated)


def test_a_name_needs_a_namespace(torch):
    with pytest.raises(ValueError):
        scale(torch, "nonamespace")


# ---- calls -------------------------------------------------------------------------------------------------

def test_calls(torch):
    op, name = scale(torch)
    x = torch.ones(2)
    assert [
        t.tolist() for t in (op(x), op(x, 3.0), op(x, k=3.0), packet(torch, name)(x), packet(torch, name).default(x, 4))
    ] == [[2.0, 2.0], [3.0, 3.0], [3.0, 3.0], [2.0, 2.0], [4.0, 4.0]]
    assert str(packet(torch, name).default) == name.replace("::", ".") + ".default"
    assert packet(torch, name).default is packet(torch, name).default


@pytest.mark.parametrize("args", [(), (1,), ("x",), (0, "k"), (0, 1.0, 2.0)], ids=str)
def test_arguments_that_do_not_fit(torch, args):
    op, _ = scale(torch)
    args = [torch.ones(2) if a == 0 and not isinstance(a, float) else a for a in args]
    with pytest.raises(RuntimeError):
        op(*args)


def test_another_device_is_refused(torch):
    op, _ = scale(torch, device_types="cuda")
    with pytest.raises(NotImplementedError, match="Could not run"):
        op(torch.ones(2))


def test_kernels_by_device(torch):
    op, _ = scale(torch)
    op.register_kernel("cpu")(lambda x, k=2.0: x * k + 1)
    assert op(torch.ones(1)).tolist() == [3.0]


def test_results_must_not_share_memory_with_arguments(torch):
    T = torch.Tensor
    for function in (lambda x: x, lambda x: x[:1], lambda x: x.view(-1)):
        op = torch.library.custom_op(fresh_name(), annotated(function, T, x=T), mutates_args=())
        with pytest.raises(RuntimeError, match="must not also be an input"):
            op(torch.ones(2))
    twice = torch.library.custom_op(
        fresh_name(), annotated(lambda x: (x + 1,) * 2, typing.Tuple[T, T], x=T), mutates_args=()
    )
    with pytest.raises(RuntimeError, match="other returns"):
        twice(torch.ones(2))


def test_the_last_definition_of_a_name_counts(torch):
    name = fresh_name()
    scale(torch, name)
    annotated_ = annotated(lambda x: x + 10, torch.Tensor, x=torch.Tensor)
    torch.library.custom_op(name, annotated_, mutates_args=())
    assert packet(torch, name)(torch.ones(1)).tolist() == [11.0]


def test_a_change_that_is_declared_counts_a_version(torch):
    def function(x):
        x.add_(1)
    op = torch.library.custom_op(fresh_name(), annotated(function, None, x=torch.Tensor), mutates_args={"x"})
    x = torch.zeros(2)
    assert op(x) is None and x.tolist() == [1.0, 1.0] and x._version == 2


# ---- autograd ----------------------------------------------------------------------------------------------

def test_without_a_gradient_backward_says_so(torch):
    op, _ = scale(torch)
    y = op(torch.ones(2, requires_grad=True))
    assert y.requires_grad
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        y.sum().backward()


def test_registered_gradients(torch):
    op, _ = scale(torch)

    def setup(ctx, inputs, output):
        assert isinstance(inputs, tuple)
        ctx.k = inputs[1]
    op.register_autograd(lambda ctx, grad: (grad * ctx.k, None), setup_context=setup)
    x = torch.ones(2, requires_grad=True)
    op(x, 5.0).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    with torch.no_grad():
        assert not op(x).requires_grad
    assert torch.autograd.gradcheck(lambda t: op(t, 3.0), torch.ones(2, dtype=torch.float64, requires_grad=True))


def test_gradients_of_lists_and_of_several_results(torch):
    T = torch.Tensor
    joined = torch.library.custom_op(fresh_name(), annotated(lambda xs, w: (xs[0] * w, xs[1] + w), typing.Tuple[T, T],
                                                             xs=typing.List[T], w=float), mutates_args=())
    joined.register_autograd(lambda ctx, g, h: ([g * 3.0, h], None))
    a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
    first, second = joined([a, b], 3.0)
    (first.sum() + 2 * second.sum()).backward()
    assert a.grad.tolist() == [3.0, 3.0] and b.grad.tolist() == [2.0, 2.0]


def test_an_operator_that_changes_its_argument_has_no_gradient(torch):
    op = torch.library.custom_op(fresh_name(), annotated(lambda x: None, None, x=torch.Tensor), mutates_args=("x",))
    with pytest.raises(RuntimeError, match="Cannot register autograd formula for non-functional operator"):
        op.register_autograd(lambda ctx, g: g)


def test_what_runs_inside_is_not_recorded(torch):
    seen = []

    def function(x):
        y = x * 2
        seen.append(y.requires_grad)
        return y
    op = torch.library.custom_op(fresh_name(), annotated(function, torch.Tensor, x=torch.Tensor), mutates_args=())
    op(torch.ones(1, requires_grad=True))
    assert seen == [False]


# ---- fake rules and opcheck --------------------------------------------------------------------------------

def test_fake_rules(torch):
    op, _ = scale(torch)
    with pytest.raises((RuntimeError, NotImplementedError), match="fake impl"):
        op(torch.ones(2, device="meta"))
    op.register_fake(lambda x, k=2.0: torch.empty_like(x))
    assert op(torch.ones(2, 3, device="meta")).shape == (2, 3)


def test_opcheck_finds_what_breaks_a_rule(torch):
    T = torch.Tensor
    good, _ = scale(torch)
    good.register_fake(lambda x, k=2.0: torch.empty_like(x))
    good.register_autograd(
        lambda ctx, g: (g * ctx.k, None), setup_context=lambda ctx, inputs, output: setattr(ctx, "k", inputs[1])
    )
    x = torch.rand(3, requires_grad=True)
    assert set(torch.library.opcheck(good, (x,)).values()) == {"SUCCESS"}

    def hidden(x):
        x.add_(1)
        return x.clone()
    changing = torch.library.custom_op(fresh_name(), annotated(hidden, T, x=T), mutates_args=())
    with pytest.raises(Exception, match="Argument x is not defined as mutable but was mutated"):
        torch.library.opcheck(changing, (torch.rand(3),))
    good.register_fake(lambda x, k=2.0: x.new_empty((7,)))
    with pytest.raises(Exception, match="opcheck"):
        torch.library.opcheck(good, (x,), test_utils="test_faketensor")
    assert torch.library.opcheck(good, (x,), test_utils="test_schema") == {"test_schema": "SUCCESS"}


# ---- Library -----------------------------------------------------------------------------------------------

def test_a_library_defines_and_implements(torch):
    space = f"space{next(numbers)}"
    library = torch.library.Library(space, "DEF")
    library.define("times(Tensor x, int n=2) -> Tensor")
    library.impl("times", lambda x, n=2: x * n, "CPU")
    times = getattr(torch.ops, space).times
    x = torch.ones(2, requires_grad=True)
    assert times(torch.ones(2), 3).tolist() == [3.0, 3.0]
    assert type(times(x).grad_fn).__name__ == "MulBackward0"       # no gradient of its own: that of what it calls
    for again in (lambda: library.define("times(Tensor x) -> Tensor"), lambda: torch.library.Library(space, "DEF"),
                  lambda: library.define("bad(")):
        with pytest.raises(RuntimeError):
            again()
    with pytest.raises(NotImplementedError):
        times(torch.ones(2, device="meta"))
    library._destroy()


def test_define_impl_and_register_by_name(torch):
    name = fresh_name()
    torch.library.define(name, "(Tensor x) -> Tensor")
    torch.library.impl(name, "cpu")(lambda x: x + 1)
    torch.library.register_fake(name)(lambda x: torch.empty_like(x))
    torch.library.register_autograd(name, lambda ctx, grad: grad * 5)
    x = torch.ones(1, requires_grad=True)
    packet(torch, name)(x).backward()
    assert x.grad.tolist() == [5.0]
    assert packet(torch, name)(torch.ones(3, device="meta")).shape == (3,)


def test_unknown_operators_and_namespaces(torch):
    with pytest.raises(AttributeError, match="'_OpNamespace' 'nowhere' object has no attribute 'nothing'"):
        torch.ops.nowhere.nothing


def test_atens_names(torch):
    x = torch.ones(2, 3)
    aten = torch.ops.aten
    assert str(aten.add.Tensor) == "aten.add.Tensor" and aten.add.Tensor.name() == "aten::add.Tensor"
    assert aten.add.Tensor(x, x).tolist() == [[2.0] * 3] * 2
    assert aten.sum.dim_IntList(x, [0]).tolist() == [2.0] * 3
    assert aten.mm.default(x, x.t()).shape == (2, 2)
    assert aten.relu(x).equal(x) and aten.transpose.int(x, 0, 1).shape == (3, 2)
    with pytest.raises(AttributeError):
        aten.add.Nonsense


def test_a_custom_operator_is_one_step_of_a_traced_graph(torch):
    fx = importlib.import_module(torch.__name__ + ".fx")
    op, name = scale(torch)
    overload = packet(torch, name).default
    graph = fx.symbolic_trace(lambda x: overload(x, 3.0) + 1).graph
    assert [n.op for n in graph.nodes] == ["placeholder", "call_function", "call_function", "output"]
