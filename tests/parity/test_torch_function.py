"""`__torch_function__`, subclasses and modes, beside PyTorch."""
import importlib

import pytest

BOTH = ["torch", "teachtorch"]


@pytest.fixture(params=BOTH)
def torch(request):
    return importlib.import_module(request.param)


def logging_subclass(torch):
    class Logged(torch.Tensor):
        log = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.log.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})
    return Logged


def test_results_of_a_subclass_are_of_the_subclass(torch):
    class Mine(torch.Tensor):
        pass
    x = torch.ones(2, 3).as_subclass(Mine)
    F = torch.nn.functional
    for made in (x + 1, 2 * x, x.relu(), x.sum(), torch.cat([x, torch.ones(1, 3)]), x[0], x.view(6), x.t(), x.add_(1),
                 torch.ones(3) + x, F.linear(x, torch.ones(4, 3)), F.cross_entropy(x, torch.tensor([0, 1]))):
        assert type(made) is Mine
    assert [type(part) for part in x.split(1)] == [Mine, Mine]
    assert type(x.max(0)[0]) is Mine
    assert x.tolist() == [[2.0] * 3] * 2 and isinstance(x.shape, torch.Size)


def test_each_call_of_the_user_is_seen_once(torch):
    Logged = logging_subclass(torch)
    x = torch.ones(2, 3).as_subclass(Logged)
    F = torch.nn.functional
    F.cross_entropy((x + 1).relu(), torch.tensor([0, 1]))
    F.linear(x, torch.ones(4, 3))
    torch.stack([x, x]).mean()
    assert Logged.log == ["add", "relu", "cross_entropy", "linear", "stack", "mean"]


def test_gradients_flow_through_a_subclass(torch):
    class Mine(torch.Tensor):
        pass
    leaf = torch.ones(3, requires_grad=True)
    (leaf.as_subclass(Mine) * 2).sum().backward()
    assert leaf.grad.tolist() == [2.0] * 3 and type(leaf.grad) is torch.Tensor
    assert torch.ones(3).as_subclass(Mine).is_leaf


def test_what_backward_calls_is_not_seen(torch):
    Logged = logging_subclass(torch)
    leaf = torch.ones(3, 3, requires_grad=True)
    loss = (leaf.as_subclass(Logged) @ torch.ones(3, 2)).exp().softmax(1)[:, 0].sum()
    del Logged.log[:]
    torch.autograd.backward(loss.as_subclass(torch.Tensor))
    assert [name for name in Logged.log if name not in ("as_subclass", "backward")] == []


def test_parameters_are_no_overriding_subclass(torch):
    p = torch.nn.Parameter(torch.ones(2))
    assert [type(t) for t in (p + 1, torch.cat([p]), p.sum())] == [torch.Tensor] * 3


def test_an_object_that_is_no_tensor_takes_calls_over(torch):
    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, len(args), kwargs or {}
    d = Duck()
    assert torch.add(d, 1) == ("add", 2, {})
    assert torch.add(1, d) == ("add", 2, {})
    assert torch.softmax(d, dim=1) == ("softmax", 1, {"dim": 1})
    assert torch.cat([torch.ones(1), d]) == ("cat", 1, {})
    assert torch.ones(1).add(d) == ("add", 2, {})
    assert torch.sum(d) == ("sum", 1, {})


def test_the_subclass_is_asked_before_its_parent(torch):
    asked = []

    class Parent(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(cls.__name__)
            return NotImplemented

    class Child(Parent):
        pass

    class Stranger(Parent):
        pass
    p, c, s = (torch.ones(1).as_subclass(cls) for cls in (Parent, Child, Stranger))
    with pytest.raises(TypeError, match="Multiple dispatch failed for"):
        torch.stack([s, p, c, p])
    assert asked == ["Stranger", "Child", "Parent"]


def test_unrelated_plain_subclasses_do_not_mix(torch):
    class A(torch.Tensor):
        pass

    class B(torch.Tensor):
        pass
    with pytest.raises(TypeError, match="all __torch_function__ handlers returned NotImplemented"):
        torch.add(torch.ones(1).as_subclass(A), torch.ones(1).as_subclass(B))


def logging_mode(torch, name, log):
    overrides = importlib.import_module(torch.__name__ + ".overrides")

    class Mode(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append((name, func.__name__))
            return func(*args, **(kwargs or {}))
    return Mode()


def test_a_mode_sees_every_call_and_not_its_own(torch):
    log = []
    with logging_mode(torch, "outer", log), logging_mode(torch, "inner", log):
        x = torch.ones(2)
        torch.add(x, 1)
    torch.add(x, 1)
    assert log == [("inner", "ones"), ("outer", "ones"), ("inner", "add"), ("outer", "add")]


def test_a_mode_is_off_after_an_error(torch):
    log = []
    with pytest.raises(ZeroDivisionError), logging_mode(torch, "mode", log):
        1 / 0
    torch.ones(1)
    assert log == []


def test_a_mode_that_raises_is_restored_within_its_block(torch):
    overrides = importlib.import_module(torch.__name__ + ".overrides")
    seen = []

    class Refusing(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            raise ValueError("no")
    with Refusing():
        for _ in range(2):
            with pytest.raises(ValueError, match="no"):
                torch.ones(1)
    assert seen == ["ones", "ones"]


def test_switching_subclasses_off(torch):
    Logged = logging_subclass(torch)
    x = torch.ones(2).as_subclass(Logged)
    with torch._C.DisableTorchFunctionSubclass():
        assert type(x + 1) is torch.Tensor
    assert Logged.log == []


def test_a_disabled_subclass_gives_plain_tensors(torch):
    class Quiet(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl
    assert type(torch.ones(2).as_subclass(Quiet) + 1) is torch.Tensor


def test_a_function_of_ones_own_can_be_opened(torch):
    overrides = importlib.import_module(torch.__name__ + ".overrides")

    def double(x):
        if overrides.has_torch_function((x,)):
            return overrides.handle_torch_function(double, (x,), x)
        return x * 2
    Logged = logging_subclass(torch)
    assert type(double(torch.ones(1).as_subclass(Logged))) is Logged
    assert Logged.log[0] == "double"


def test_detached_tensors_stay_of_the_subclass(torch):
    class Mine(torch.Tensor):
        pass
    x = torch.ones(2).as_subclass(Mine)
    assert type(x.detach()) is type(torch.detach(x)) is type(x.data) is Mine
    p = torch.nn.Parameter(x)
    assert type(p) is Mine and isinstance(p, torch.nn.Parameter) and p.requires_grad


def test_a_wrapper_without_function_starts_backward(torch):
    class Wrapper(torch.Tensor):
        @staticmethod
        def __new__(cls, inner, requires_grad=False):
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, requires_grad=requires_grad)

        def __init__(self, inner, requires_grad=False):
            self.inner = inner

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            found = func(*[a.inner if isinstance(a, Wrapper) else a for a in args], **(kwargs or {}))
            return Wrapper(found) if isinstance(found, torch.Tensor) else found

    leaf = Wrapper(torch.tensor([1.0, 3.0]), requires_grad=True)
    (leaf * leaf).sum().backward()
    assert type(leaf.grad) is Wrapper and leaf.grad.inner.tolist() == [2.0, 6.0]


def calls_with_out(torch):
    """What a mode and a subclass see of functions that are given `out`: (function, keywords), and the results' classes."""
    overrides = importlib.import_module(f"{torch.__name__}.overrides")
    seen = []

    class Mode(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((func.__name__, len(args), sorted(kwargs or {})))
            return func(*args, **(kwargs or {}))

    class Mine(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func.__name__, len(args), sorted(kwargs or {}), [each.__name__ for each in types]))
            return super().__torch_function__(func, types, args, kwargs or {})

    x, out, mine = torch.ones(2), torch.empty(2), torch.ones(2).as_subclass(Mine)
    with Mode():
        torch.exp(x, out=out)
        torch.add(x, x, out=out)
    made = [torch.exp(mine, out=out), torch.exp(x, out=mine), torch.add(x, x, alpha=2, out=mine)]
    return seen, [type(each).__name__ for each in made]


def test_out_is_a_keyword_like_others():
    theirs, ours = (calls_with_out(importlib.import_module(name)) for name in BOTH)
    assert ours == theirs
    assert ("exp", 1, ["out"]) in ours[0] and ("add", 2, ["alpha", "out"], ["Mine"]) in ours[0]
    assert ours[1] == ["Mine"] * 3


def test_a_trace_sees_out(torch):
    fx = importlib.import_module(f"{torch.__name__}.fx")
    for function in (lambda x: torch.exp(x, out=x), lambda x: torch.exp(torch.ones(2), out=x)):
        (call,) = [node for node in fx.symbolic_trace(function).graph.nodes if node.op == "call_function"]
        assert call.target is torch.exp and call.kwargs["out"].op == "placeholder"
