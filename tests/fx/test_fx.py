"""teachtorch.fx beside torch.fx: the same graphs, the same code, the same values."""
import copy
import importlib
import operator
import pickle

import numpy as np
import pytest

BOTH = ["torch", "teachtorch"]


@pytest.fixture(params=BOTH)
def torch(request):
    importlib.import_module(request.param + ".fx")
    return importlib.import_module(request.param)


def modules(name):
    """The two libraries, with their fx."""
    importlib.import_module(name + ".fx")
    return importlib.import_module(name)


FUNCTIONS = {
    "operators": lambda torch: lambda x, y: -(2 * x - y / x // 2 ** x) @ (x + 1) % 3,
    "comparisons": lambda torch: lambda x, y: ((x == y) | (x < y)) & ~(x >= y),
    "indices": lambda torch: lambda x: (x[0], x[1:2, None], x[..., -1], x[:, torch.tensor([0])]),
    "functions": lambda torch: lambda x, y: torch.where(x > 0, torch.add(x, y, alpha=2), torch.sum(x)),
    "methods": lambda torch: lambda x: x.relu().sum(dim=0, keepdim=True).view(-1).to(torch.float64),
    "mixed": lambda torch: lambda x: torch.stack((x, x)).max(1)[0] + torch.softmax(x, dim=-1),
    "attributes": lambda torch: lambda x: (x.T, x.shape, x.shape[0], x.dtype),
    "nested": lambda torch: lambda x: {"a": [x, (x + 1, None)], "b": x.split(1, 0)},
    "in place": lambda torch: in_place,
    "defaults": lambda torch: lambda x, y=2, *, z=None: x * y,
    "star": lambda torch: lambda *args: args[0] + args[1],
    "keywords": lambda torch: lambda x, **kwargs: x + kwargs["y"],
    "unused": lambda torch: lambda x, unused: (x.exp(), x.sin())[0],
    "names": lambda torch: lambda input, max: torch.max(input) + max.max() + input.sum().sum(),
    "functional": lambda torch: lambda x: torch.nn.functional.relu(x, inplace=True),
}


def in_place(x):
    x += 1
    x.add_(2)
    return x


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_graph_is_pytorchs(name):
    texts = []
    for library in map(modules, BOTH):
        traced = library.fx.symbolic_trace(FUNCTIONS[name](library))
        traced.graph.lint()
        texts.append((str(traced.graph), traced.code.rstrip(), [repr(n) for n in traced.graph.nodes]))
    assert texts[1] == texts[0]


def network(torch):
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)
            self.scale = torch.nn.Parameter(torch.full((3,), 2.0))
            self.register_buffer("shift", torch.ones(3))
            self.plain = torch.ones(3)

        def forward(self, x):
            return self.linear(x) * self.scale + self.shift - self.plain

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.Sequential(Block(), torch.nn.ReLU(), Block())
            self.norm = torch.nn.BatchNorm1d(3)

        def forward(self, x):
            return self.norm(self.blocks(x) + x).relu()

    net = Net()
    with torch.no_grad():
        for i, p in enumerate(net.parameters()):
            p.copy_(torch.from_numpy(np.random.default_rng(i).standard_normal(tuple(p.shape)).astype(np.float32)))
    return net


def test_a_module_becomes_pytorchs_graph_and_code():
    texts = []
    for library in map(modules, BOTH):
        traced = library.fx.symbolic_trace(network(library))
        traced.graph.lint()
        texts.append((str(traced.graph), traced.code.rstrip()))
    assert texts[1] == texts[0]


def test_a_traced_module_computes_what_the_module_does_and_shares_its_parameters(torch):
    net = network(torch)
    traced = torch.fx.symbolic_trace(net)
    x = torch.from_numpy(np.random.default_rng(9).standard_normal((4, 3)).astype(np.float32))
    np.testing.assert_array_equal(traced(x).detach().numpy(), net(x).detach().numpy())
    assert dict(traced.named_parameters())["blocks.0.linear.weight"] is net.blocks[0].linear.weight
    assert set(dict(traced.named_buffers())) >= {"blocks.0.shift", "norm.running_mean"}
    traced(x).sum().backward()
    assert net.blocks[0].scale.grad is not None
    assert traced.training is net.training


def test_concrete_arguments_fix_a_branch_and_are_checked(torch):
    traced = torch.fx.symbolic_trace(lambda x, flag, n=None: x + 1 if flag else x - 1, {"flag": False})
    assert traced(torch.ones(1), False).tolist() == [0.0]
    with pytest.raises(AssertionError, match="flag has been specialized to have value False but got another value"):
        traced(torch.ones(1), True)


REFUSED = {
    "branch": (lambda x: x if x.sum() > 0 else -x, ValueError),
    "branch on a shape": (lambda x: x if x.shape[0] > 2 else -x, ValueError),
    "while": (lambda x: [0 for _ in iter(lambda: bool(x), False)], ValueError),
    "iteration": (lambda x: [y for y in x], ValueError),
    "star": (lambda x: max(*x), ValueError),
    "len": (lambda x: len(x), RuntimeError),
    "int": (lambda x: int(x), (TypeError, ValueError)),
    "range": (lambda x: list(range(x)), (TypeError, ValueError)),
    "item assignment": (lambda x: operator.setitem(x, 0, 1), TypeError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_depends_on_values_is_refused(torch, name):
    function, error = REFUSED[name]
    with pytest.raises(error):
        torch.fx.symbolic_trace(function)


def test_the_refusal_names_the_line():
    fx = modules("teachtorch").fx

    def forward(x):
        doubled = x * 2
        return doubled if doubled.sum() > 0 else x
    with pytest.raises(fx.TraceError, match=r"test_fx.py:\d+: `return doubled if doubled.sum\(\) > 0 else x`"):
        fx.symbolic_trace(forward)


def test_unpacking_a_known_number_of_values_is_traced(torch):
    def forward(x):
        a, b = x.split(1, 0)
        return a + b
    traced = torch.fx.symbolic_trace(forward)
    assert traced(torch.ones(2, 3)).tolist() == [[2.0] * 3]


def test_a_leaf_may_branch(torch):
    class Gate(torch.nn.Module):
        def forward(self, x):
            return x if float(x.sum()) > 0 else -x

    class Tracer(torch.fx.Tracer):
        def is_leaf_module(self, m, name):
            return isinstance(m, Gate) or super().is_leaf_module(m, name)
    net = torch.nn.Sequential(Gate())
    traced = torch.fx.GraphModule(net, Tracer().trace(net))
    assert traced(torch.tensor([-2.0])).tolist() == [2.0] and traced(torch.tensor([3.0])).tolist() == [3.0]


def test_changing_a_graph(torch):
    traced = torch.fx.symbolic_trace(lambda x, y: torch.add(x, y))
    for node in traced.graph.nodes:
        if node.target is torch.add:
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(torch.mul, node.args)
            node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
    traced.graph.lint()
    traced.recompile()
    assert traced(torch.tensor(3.0), torch.tensor(4.0)).item() == 12


def test_erasing_a_used_node_is_refused(torch):
    graph = torch.fx.symbolic_trace(lambda x: x + 1).graph
    with pytest.raises(RuntimeError, match="Tried to erase Node"):
        graph.erase_node(next(iter(graph.nodes)))


def test_lint_finds_a_use_before_its_definition(torch):
    graph = torch.fx.symbolic_trace(lambda x: (x + 1) * 2).graph
    x, add, mul, _ = graph.nodes
    mul.append(add)
    with pytest.raises(RuntimeError, match="was used before it has been defined"):
        graph.lint()


def test_dead_code():
    """Ours keeps calls that change their argument; PyTorch's erases them."""
    torch = modules("teachtorch")

    def forward(x):
        x.exp()
        x.add_(1)
        print("seen")
        return x * 2
    graph = torch.fx.symbolic_trace(forward).graph
    assert graph.eliminate_dead_code()
    assert [n.name for n in graph.nodes] == ["x", "add_", "mul", "output"]
    assert not graph.eliminate_dead_code()


def test_arguments_cannot_be_changed_in_place(torch):
    graph = torch.fx.symbolic_trace(lambda x: torch.cat([x, x])).graph
    cat = list(graph.nodes)[1]
    with pytest.raises((NotImplementedError, TypeError)):
        cat.args[0].append(1)


def test_users_follow_arguments(torch):
    graph = torch.fx.symbolic_trace(lambda x, y: x + 1).graph
    x, y, add, _ = graph.nodes
    assert list(x.users) == [add] and not y.users
    add.args = (y, 1)
    assert not x.users and list(y.users) == [add] and add.all_input_nodes == [y]


def test_copies_are_independent_and_pickles_come_back(torch):
    traced = torch.fx.symbolic_trace(network(torch))
    x = torch.ones(4, 3)
    traced.eval()
    for other in (copy.deepcopy(traced), pickle.loads(pickle.dumps(traced))):
        other.eval()
        np.testing.assert_array_equal(other(x).detach().numpy(), traced(x).detach().numpy())
        assert other.blocks is not traced.blocks
        other.graph.lint()


def test_the_interpreter_runs_what_the_code_does(torch):
    traced = torch.fx.symbolic_trace(network(torch))
    traced.eval()
    x, seen = torch.ones(4, 3), []

    class Logging(torch.fx.Interpreter):
        def call_module(self, target, args, kwargs):
            seen.append(target)
            return super().call_module(target, args, kwargs)
    interpreter = Logging(traced)
    np.testing.assert_array_equal(interpreter.run(x).detach().numpy(), traced(x).detach().numpy())
    assert seen == ["blocks.0.linear", "blocks.1", "blocks.2.linear", "norm"]
    assert len(interpreter.env) < len(traced.graph.nodes)          # values are forgotten after their last use


def test_a_transformer_makes_a_new_module(torch):
    class Negate(torch.fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(torch.neg if target is torch.sigmoid else target, args, kwargs)
    traced = torch.fx.symbolic_trace(lambda x: torch.sigmoid(x) + x.relu())
    made = Negate(traced).transform()
    assert made(torch.tensor([2.0])).tolist() == [0.0]


def test_patterns_are_replaced_where_nothing_else_uses_their_middle(torch):
    def forward(x, w):
        a = torch.relu(x + w)
        middle = x * w
        b = torch.relu(middle + x)
        s = a + b
        return s + torch.relu(s)
    traced = torch.fx.symbolic_trace(forward)
    matches = torch.fx.replace_pattern(traced, lambda p, q: torch.relu(p + q), lambda p, q: torch.clamp(p - q, min=0))
    assert len(matches) == 2
    traced.graph.lint()
    assert [n.target for n in traced.graph.nodes].count(torch.clamp) == 2


def test_overlapping_matches_and_chains(torch):
    traced = torch.fx.symbolic_trace(lambda x: torch.neg(torch.neg(torch.neg(torch.neg(x)))))
    matches = torch.fx.replace_pattern(traced, lambda x: torch.neg(torch.neg(x)), lambda x: torch.abs(x))
    traced.graph.lint()
    assert len(matches) == 2
    assert traced(torch.tensor([-3.0])).tolist() == [3.0]


def test_node_names_can_be_asked_for(torch):
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    names = [graph.call_function(torch.relu, (x,)).name for _ in range(3)]
    names.append(graph.create_node("call_function", torch.relu, (x,), name="relu_1").name)
    names.append(graph.create_node("call_function", torch.relu, (x,), name="for").name)
    assert names == ["relu", "relu_1", "relu_2", "relu_3", "for_1"]


def test_wrapped_functions_are_one_node():
    source = "import {0} as torch\nimport {0}.fx\nimport math\n@torch.fx.wrap\ndef helper(x, n):\n    return x * n if n else x\n" \
             "torch.fx.wrap('len')\ndef forward(x):\n    return helper(x, 3) + len(x) + math.sqrt(x)\n"
    texts = []
    for name in BOTH:
        scope = {"__name__": "scratch"}
        exec(source.format(name), scope)
        texts.append([(n.op, n.name) for n in modules(name).fx.symbolic_trace(scope["forward"]).graph.nodes])
    assert texts[0] == texts[1]
