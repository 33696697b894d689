"""fx.passes and fx.experimental: noted shapes are PyTorch's; passes keep what a graph computes, and keep apart what
must not be merged."""
import copy
import importlib
import warnings

import numpy as np
import pytest


@pytest.fixture(params=["torch", "teachtorch"])
def both(request):
    return library(request.param)


@pytest.fixture
def torch():
    return library("teachtorch")


def library(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)               # importing PyTorch's fusion warns
        for module in ("fx", "fx.passes.shape_prop", "fx.passes.split_module", "fx.experimental.optimization",
                       "fx.passes.infra.pass_manager"):
            importlib.import_module(f"{name}.{module}")
    return importlib.import_module(name)


def part(torch, path):
    return importlib.import_module(f"{torch.__name__}.fx.{path}")


def convolutional(torch):
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Dropout(), torch.nn.Linear(144, 2))
    rng = np.random.default_rng(0)
    with torch.no_grad():
        for t in (*net.parameters(), net[1].running_mean):
            t.copy_(torch.from_numpy(rng.standard_normal(tuple(t.shape)).astype(np.float32)))
    return net


# ---- shapes ----------------------------------------------------------------------------------------------

def noted(torch, function, *inputs):
    traced = torch.fx.symbolic_trace(function)
    part(torch, "passes.shape_prop").ShapeProp(traced).propagate(*inputs)
    return [(n.name, str(n.meta.get("tensor_meta")).replace("TensorMetadata", "")) for n in traced.graph.nodes]


def test_shapes_are_pytorchs():
    found = []
    for torch in map(library, ("torch", "teachtorch")):
        found.append(noted(torch, convolutional(torch), torch.ones(2, 3, 8, 8)))
        found.append(noted(torch, lambda x: (x.shape, x.T, x.split(1)), torch.ones(2, 3)))
    assert found[:2] == found[2:]


def test_memory_formats_are_noted(both):
    x = both.ones(1, 2, 3, 4).contiguous(memory_format=both.channels_last)
    traced = both.fx.symbolic_trace(lambda x: (x * 2, x.transpose(1, 2)))
    part(both, "passes.shape_prop").ShapeProp(traced).propagate(x)
    _, mul, transposed, _ = traced.graph.nodes
    assert mul.meta["tensor_meta"].memory_format is both.channels_last
    assert transposed.meta["tensor_meta"].memory_format is None


def test_a_failing_node_is_named(both):
    traced = both.fx.symbolic_trace(lambda x: x @ x)
    with pytest.raises(RuntimeError, match="ShapeProp error for: node=%matmul"):
        part(both, "passes.shape_prop").ShapeProp(traced).propagate(both.ones(2, 3))


# ---- common subexpressions -------------------------------------------------------------------------------

def after_cse(torch, function):
    traced = torch.fx.symbolic_trace(function)
    count = part(torch, "passes.cse").eliminate_common_subexpressions(traced.graph)
    traced.graph.lint()
    traced.recompile()
    return traced, count


def test_equal_nodes_are_merged(torch):
    traced, count = after_cse(torch, lambda x, y: (x + y) * (x + y) + torch.relu(x).sum(0) + torch.relu(x).sum(0))
    assert count == 3
    x, y = torch.tensor([1.0, -2.0]), torch.tensor([3.0, 4.0])
    assert traced(x, y).tolist() == [18.0, 6.0]


def random(torch):
    return lambda x: torch.rand_like(x) - torch.rand_like(x)


def dropped(torch):
    return lambda x: torch.nn.functional.dropout(x) - torch.nn.functional.dropout(x)


def changed_between(torch):
    def function(x):
        before = x + 1
        x.add_(1)
        return before - (x + 1)
    return function


def changed_view_between(torch):
    def function(x):
        before = x * 2
        x[0].zero_()
        return before - x * 2
    return function


def changed_later(torch):
    def function(x):
        first, second = x + 1, x + 1
        first.add_(1)
        return first - second
    return function


def changed_through_a_view(torch):
    def function(x):
        first, second = x + 1, x + 1
        first.view(-1).mul_(0)
        return first - second
    return function


def other_constants(torch):
    return lambda x: (x + 1) / (x + 1.0) + (x == True) + (x == 1)            # noqa: E712


KEPT = [random, dropped, changed_between, changed_view_between, changed_later, changed_through_a_view, other_constants]


@pytest.mark.parametrize("make", KEPT)
def test_what_must_stay_two_stays_two(torch, make):
    function = make(torch)
    traced, count = after_cse(torch, function)
    assert count == 0
    x = torch.tensor([1.0, 2.0])
    torch.manual_seed(0)
    expected = function(x.clone())
    torch.manual_seed(0)
    assert traced(x.clone()).tolist() == expected.tolist()


def test_modules_are_merged_unless_they_draw_or_count(torch):
    def net(layer):
        class Twice(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = layer

            def forward(self, x):
                return self.layer(x) + self.layer(x)
        return after_cse(torch, Twice())[1]
    assert net(torch.nn.Linear(2, 2)) == 1 and net(torch.nn.Dropout().eval()) == 1
    assert net(torch.nn.Dropout()) == 0 and net(torch.nn.BatchNorm1d(2)) == 0 and net(torch.nn.ReLU(inplace=True)) == 0


def with_buffers(torch, net):
    """A trace that does not compute with buffers while tracing."""
    class Tracer(torch.fx.Tracer):
        proxy_buffer_attributes = True
    return torch.fx.GraphModule(net, Tracer().trace(net))


# ---- constants -------------------------------------------------------------------------------------------

def test_what_depends_on_no_input_is_computed_once(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))
            self.register_buffer("table", torch.arange(4.0).view(2, 2))

        def forward(self, x):
            return x @ (self.table.t() * 2).exp() + self.weight * 3
    traced = with_buffers(torch, Net())
    x = torch.ones(2, 2)
    expected = traced(x)
    assert part(torch, "passes.const_fold").fold_constants(traced) == 3
    assert [n.target for n in traced.graph.nodes if n.op == "get_attr"] == ["_folded0", "weight"]
    assert traced(x).tolist() == expected.tolist()
    traced(x).sum().backward()
    assert traced.weight.grad.tolist() == [6.0, 6.0]


def test_constants_that_change_or_are_drawn_are_not_folded(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            return x + self.count.add_(1) + self.count * 2 + torch.rand_like(self.count) * 0
    traced = with_buffers(torch, Net())
    part(torch, "passes.const_fold").fold_constants(traced)
    assert [traced(torch.zeros(1)).item() for _ in range(2)] == [3.0, 6.0]


# ---- fusion ----------------------------------------------------------------------------------------------

def test_batch_norm_is_folded_into_its_convolution(both):
    net = convolutional(both).eval()
    fused = part(both, "experimental.optimization").fuse(net)
    x = both.from_numpy(np.random.default_rng(1).standard_normal((2, 3, 8, 8)).astype(np.float32))
    assert [n.target for n in fused.graph.nodes if n.op == "call_module"] == ["0", "2", "3", "4", "5"]
    np.testing.assert_allclose(fused(x).detach().numpy(), net(x).detach().numpy(), rtol=2e-4, atol=2e-4)
    assert len(net) == 6 and type(net[1]).__name__ == "BatchNorm2d"


def test_a_convolution_in_training_or_with_another_user_is_left_alone(both):
    optimization = part(both, "experimental.optimization")
    with pytest.raises(AssertionError, match="Fusion only for eval"):
        optimization.fuse(convolutional(both))

    class Both(both.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.bn = both.nn.Conv1d(1, 1, 1), both.nn.BatchNorm1d(1)

        def forward(self, x):
            y = self.conv(x)
            return self.bn(y) + y
    fused = optimization.fuse(Both().eval())
    assert [n.target for n in fused.graph.nodes if n.op == "call_module"] == ["conv", "bn"]


def test_dropouts_are_removed(both):
    net = part(both, "experimental.optimization").remove_dropout(convolutional(both))
    assert "4" not in [n.target for n in net.graph.nodes]


# ---- splitting and running -------------------------------------------------------------------------------

def test_a_split_module_computes_the_same(both):
    net = convolutional(both).eval()
    traced = both.fx.symbolic_trace(net)
    halves = part(both, "passes.split_module").split_module(traced, net, lambda node: int(node.target) // 3)
    assert [n.target for n in halves.graph.nodes if n.op == "call_module"] == ["submod_0", "submod_1"]
    x = both.ones(2, 3, 8, 8)
    np.testing.assert_array_equal(halves(x).detach().numpy(), net(x).detach().numpy())


def test_parts_that_need_each_other_cannot_be_split(both):
    traced = both.fx.symbolic_trace(lambda x: ((x + 1) * 2) - 3)
    with pytest.raises(RuntimeError, match="cycle exists between partitions!"):
        part(both, "passes.split_module").split_module(traced, traced, lambda node: 1 if node.name == "mul" else 0)


def test_a_pass_manager_runs_until_nothing_changes_and_keeps_the_graphs(torch):
    infra, cse = part(torch, "passes.infra"), part(torch, "passes.cse")
    run_cse = infra.pass_result_wrapper(lambda gm: cse.eliminate_common_subexpressions(gm.graph))
    run_cse.__name__ = "cse"
    manager = infra.PassManager([run_cse], steps=5)
    traced = torch.fx.symbolic_trace(lambda x: (x + 1) * (x + 1))
    result = manager(traced)
    assert result.modified and [(s.name, s.modified) for s in manager.history] == [("cse", True), ("cse", False)]
    assert [len(manager.history[0].before.nodes), len(manager.history[0].after.nodes)] == [5, 4]


def test_pass_managers_as_pytorchs(both):
    manager_module, base = part(both, "passes.infra.pass_manager"), part(both, "passes.infra.pass_base")

    class Swap(base.PassBase):
        def call(self, graph_module):
            for node in [n for n in graph_module.graph.nodes if n.op == "call_function"]:
                node.target = both.sub
            return base.PassResult(graph_module, True)
    traced = both.fx.symbolic_trace(lambda x, y: both.add(x, y))
    result = manager_module.PassManager([Swap()])(traced)
    result.graph_module.recompile()
    assert result.modified and result.graph_module(both.tensor(3.0), both.tensor(1.0)).item() == 2.0
    with pytest.raises(Exception, match="An error occurred when running the '<lambda>' pass"):
        manager_module.PassManager([lambda gm: gm])(copy.deepcopy(traced))
