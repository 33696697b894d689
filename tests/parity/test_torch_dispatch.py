"""`__torch_dispatch__`: wrapper tensors and modes, beside PyTorch."""
import importlib

import pytest

BOTH = ["torch", "teachtorch"]


@pytest.fixture(params=BOTH)
def torch(request):
    importlib.import_module(request.param + ".utils._python_dispatch")
    return importlib.import_module(request.param)


def tools(torch):
    name = torch.__name__ + ".utils."
    return importlib.import_module(name + "_python_dispatch"), importlib.import_module(name + "_pytree")


def wrapper(torch, log):
    dispatch, pytree = tools(torch)

    class Wrapper(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, inner, requires_grad=False):
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, strides=inner.stride(), dtype=inner.dtype,
                                                       device=inner.device, requires_grad=requires_grad)

        def __init__(self, inner, requires_grad=False):
            self.inner = inner

        def __repr__(self):
            return f"Wrapper({self.inner})"

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log.append(str(func))
            args, kwargs = pytree.tree_map_only(Wrapper, lambda w: w.inner, (args, kwargs or {}))
            return pytree.tree_map_only(torch.Tensor, Wrapper, func(*args, **kwargs))
    return Wrapper


def test_operators_arrive_in_their_parts_under_their_full_names(torch):
    log = []
    w = wrapper(torch, log)(torch.ones(2, 3))
    y = torch.nn.functional.linear(w, torch.ones(4, 3), torch.ones(4))
    z = torch.softmax(y * 2 + y, dim=1).sum(0).square()
    assert type(z).__name__ == "Wrapper" and z.inner.shape == (4,)
    assert [name for name in log if "detach" not in name] == ["aten.addmm.default", "aten.mul.Tensor", "aten.add.Tensor", "aten._softmax.default",
                   "aten.sum.dim_IntList", "aten.pow.Tensor_Scalar"]


def test_autograd_stands_above(torch):
    log = []
    Wrapper = wrapper(torch, log)
    w = Wrapper(torch.full((3,), 2.0), requires_grad=True)
    (w * w).sum().backward()
    assert w.is_leaf and type(w.grad).__name__ == "Wrapper" and w.grad.inner.tolist() == [4.0, 4.0, 4.0]


def test_views_and_shapes_of_a_wrapper(torch):
    Wrapper = wrapper(torch, [])
    w = Wrapper(torch.arange(6.0).view(2, 3))
    assert w.shape == (2, 3) and w.stride() == (3, 1) and w.dtype is torch.float32 and w.data_ptr() == 0
    assert w.t().inner.shape == (3, 2) and w[0].inner.tolist() == [0.0, 1.0, 2.0]
    assert w.view(6).inner.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_wrapper_needs_a_handler(torch):
    class Plain(torch.Tensor):
        pass
    with pytest.raises(TypeError, match="must define __torch_dispatch__"):
        torch.Tensor._make_wrapper_subclass(Plain, (2,))


def logging_mode(torch, log, name=""):
    dispatch, _ = tools(torch)

    class Mode(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append(name + str(func))
            return func(*args, **(kwargs or {}))
    return Mode()


def test_a_mode_sees_operators_below_autograd_and_not_its_own(torch):
    log, x = [], torch.ones(2, 2, requires_grad=True)
    with logging_mode(torch, log):
        y = (x @ x).relu()
    assert y.grad_fn is not None
    assert [name for name in log if "detach" not in name] == ["aten.mm.default", "aten.relu.default"]
    del log[:]
    y.sum()
    assert log == []


def test_modes_nest_innermost_first(torch):
    log, x = [], torch.ones(2)
    with logging_mode(torch, log, "outer "), logging_mode(torch, log, "inner "):
        x + 1
    assert log == ["inner aten.add.Tensor", "outer aten.add.Tensor"]


def test_a_mode_ends_with_an_error_in_its_block(torch):
    log, x = [], torch.ones(2)
    with pytest.raises(ZeroDivisionError), logging_mode(torch, log):
        1 / 0
    x + 1
    assert log == []


def test_a_mode_may_answer_itself(torch):
    dispatch, _ = tools(torch)

    class AllOnes(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            found = func(*args, **(kwargs or {}))
            return torch.ones_like(found)
    x = torch.full((2,), 3.0)
    with AllOnes():
        assert x.mul(5).tolist() == [1.0, 1.0]


def test_nobody_answers(torch):
    class Silent(torch.Tensor):
        @staticmethod
        def __new__(cls):
            return torch.Tensor._make_wrapper_subclass(cls, (2,))
        __torch_function__ = torch._C._disabled_torch_function_impl

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented
    with pytest.raises(TypeError, match="Multiple dispatch failed for"):
        torch.neg(Silent())


def test_backward_is_dispatched_too(torch):
    log, x = [], torch.ones(2, 2, requires_grad=True)
    y = (x @ x).exp().sum()
    with logging_mode(torch, log):
        y.backward()
    assert [name for name in log if "mm" in name] == ["aten.mm.default"] * 2
    assert "aten.mul.Tensor" in log


TREES = [1, (1, [2, {"a": 3, "b": (4,)}]), [], {"x": None}, ((), [()])]


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_trees(torch, tree):
    _, pytree = tools(torch)
    leaves, spec = pytree.tree_flatten(tree)
    assert pytree.tree_unflatten(leaves, spec) == tree and spec.num_leaves == len(leaves)
    assert pytree.tree_leaves(pytree.tree_map(lambda leaf: [leaf], tree), is_leaf=lambda t: isinstance(t, list) and len(t) == 1
                              and t[0] in leaves) == [[leaf] for leaf in leaves]


FACTORIES = [
    "torch.ones(3)", "torch.ones(2, 3, dtype=torch.float64)", "torch.zeros((2,))", "torch.full((2,), 7)", "torch.empty(2)",
    "torch.empty_strided((2, 3), (3, 1))", "torch.rand(2)", "torch.randn(2, requires_grad=True)",
    "torch.randint(5, (2,))", "torch.randint(1, 5, (2,))", "torch.arange(3)", "torch.arange(1, 3)", "torch.arange(1, 3, .5)",
    "torch.tensor([1., 2.])", "torch.as_tensor(3)", "torch.eye(2)", "torch.eye(2, 3)", "torch.linspace(0, 1, 3)",
    "torch.logspace(0, 1, 3)", "torch.randperm(3)", "torch.tril_indices(2, 2)", "torch.normal(0., 1., (2,))",
    "torch.ones(2, device='meta')", "torch.zeros_like(x)", "torch.ones_like(x)",
    "torch.full_like(x, 2)", "torch.empty_like(x)", "torch.rand_like(x)", "torch.randn_like(x)", "x.new_zeros(2)",
    "x.new_ones(2)", "x.new_full((2,), 1)", "x.new_empty(2)", "x.new_tensor([1])"]


def seen_by_a_mode(torch, expression):
    """[(operator, arguments, keywords)] as text, tensors as their shapes."""
    dispatch, pytree = tools(torch)
    log, x = [], torch.ones(2, 3)

    class Log(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            shown = pytree.tree_map_only(torch.Tensor, lambda t: tuple(t.shape), (args, kwargs))
            log.append(f"{func} {shown}".replace("teachtorch", "torch"))
            return func(*args, **(kwargs or {}))

    with Log():
        eval(expression, {"torch": torch, "x": x})
    return log


@pytest.mark.parametrize("expression", FACTORIES)
def test_modes_see_factories_as_pytorch_calls_them(expression):
    ours, theirs = (seen_by_a_mode(importlib.import_module(name), expression) for name in ("teachtorch", "torch"))
    assert ours == theirs


def test_a_mode_may_put_something_else_in_a_factorys_place(torch):
    dispatch, _ = tools(torch)

    class Sevens(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            found = func(*args, **(kwargs or {}))
            return found.fill_(7) if "ones" in str(func) else found

    with Sevens():
        assert torch.ones(2).tolist() == [7.0, 7.0]
        assert torch.ones_like(torch.zeros(2)).tolist() == [7.0, 7.0]
    assert torch.ones(2).tolist() == [1.0, 1.0]


def test_living_wrappers_are_passed_over_when_memory_moves(torch):
    w = wrapper(torch, [])(torch.ones(3))
    x = torch.ones(2)
    x.resize_(1000).fill_(1)
    torch.cat([x, x], out=torch.empty(0))
    assert torch.ones(4).share_memory_().is_shared() and w.shape == (3,)


def test_living_lazy_parameters_are_passed_over_when_memory_moves(torch):
    lazy = torch.nn.LazyLinear(2)
    x = torch.ones(2)
    y = x[:1]
    x.resize_(1000).fill_(1)
    torch.cat([x, x], out=torch.empty(0))
    assert x.share_memory_().is_shared() and y.is_shared()
    assert torch.nn.parameter.is_lazy(lazy.weight)


def test_the_ledger_of_holders_passes_lazy_parameters_over():
    import teachtorch as torch
    from teachtorch.utils.holders import holders
    lazy = torch.nn.LazyLinear(2)
    x = torch.ones(2)
    assert [holder.kind for holder in holders(x).holders] and torch.nn.parameter.is_lazy(lazy.weight)
