"""normalized_arguments; operators of a user's in symbolic traces; what torch.overrides lists."""
import operator

import pytest

import teachtorch as torch
from teachtorch import fx
from teachtorch.nn import functional as F


@torch.library.custom_op("fx_arguments::scale", mutates_args=())
def scale(x: torch.Tensor, k: float) -> torch.Tensor:
    return x * k


def nodes_of(function):
    traced = fx.symbolic_trace(function)
    return traced, {node.name: node for node in traced.graph.nodes}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Linear(2, 2))

    def forward(self, x):
        return F.leaky_relu(torch.add(self.inner(x), x, alpha=2), inplace=True).view(-1) + 1


def test_arguments_by_place_stay_there_and_defaults_are_filled_in():
    _, nodes = nodes_of(Model())
    assert nodes["add"].normalized_arguments(None) == ((nodes["inner_0"], nodes["x"]), {"alpha": 2})
    wanted = ((nodes["add"],), {"negative_slope": 0.01, "inplace": True})
    assert nodes["leaky_relu"].normalized_arguments(None) == wanted
    args, kwargs = nodes["leaky_relu"].normalized_arguments(None, normalize_to_only_use_kwargs=True)
    assert args == () and kwargs == {"input": nodes["add"], "negative_slope": 0.01, "inplace": True}


def test_modules_of_nn_and_what_has_no_names():
    model = Model()
    traced, nodes = nodes_of(model)
    assert nodes["inner_0"].normalized_arguments(traced) == ((nodes["x"],), {})
    found = nodes["inner_0"].normalized_arguments(traced, normalize_to_only_use_kwargs=True)
    assert found == ((), {"input": nodes["x"]})
    for name in ("x", "view", "add_1", "output"):
        assert nodes[name].normalized_arguments(traced) is None
    assert nodes["add_1"].target is operator.add
    with pytest.raises(RuntimeError, match="root did not have that target"):
        nodes["inner_0"].normalized_arguments(torch.nn.Module())


def test_a_graph_rewritten_to_normalized_arguments_computes_the_same():
    traced, nodes = nodes_of(Model())
    x = torch.randn(3, 2)
    wanted = traced(x)
    for node in nodes.values():
        found = node.normalized_arguments(traced, normalize_to_only_use_kwargs=True)
        if found is not None:
            node.args, node.kwargs = found
    traced.recompile()
    assert torch.equal(traced(x), wanted)


def test_a_users_operator_is_one_call_of_its_overload():
    traced, nodes = nodes_of(lambda x: scale(x, k=2.0) + scale(2 * x, 3.0))
    calls = [node for node in nodes.values() if str(node.target).startswith("fx_arguments")]
    assert [node.op for node in calls] == ["call_function"] * 2
    assert all(node.target is torch.ops.fx_arguments.scale.default for node in calls)
    assert calls[0].kwargs == {"k": 2.0}
    assert "torch.ops.fx_arguments.scale.default(x, k = 2.0)" in traced.code
    assert traced(torch.ones(2)).tolist() == [8, 8]


def test_a_proxy_given_by_name_is_seen():
    traced, _ = nodes_of(lambda x: scale(x=x, k=2.0))
    assert traced(torch.ones(1)).item() == 2


def test_append_to_itself_changes_nothing():
    graph = fx.Graph()
    x = graph.placeholder("x")
    x.append(x)
    x.prepend(x)
    assert list(graph.nodes) == [x]


# ---- torch.overrides ---------------------------------------------------------------------------------------


def test_ignored_functions_are_those_that_nobody_can_take_over():
    ignored = torch.overrides.get_ignored_functions()
    for function in (torch.ones, torch.arange, torch.randn, torch.is_grad_enabled, torch.set_printoptions):
        assert function in ignored
    for function in (torch.add, torch.sum, F.relu, torch.stack):
        assert function not in ignored


def test_testing_overrides_have_the_functions_parameters():
    stand_ins = torch.overrides.get_testing_overrides()
    assert len(stand_ins) > 300 and torch.add in stand_ins and torch.ones not in stand_ins

    class Answers:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return stand_ins[func](*args, **(kwargs or {}))
    assert torch.add(Answers(), 1) == -1 and F.relu(Answers()) == -1
