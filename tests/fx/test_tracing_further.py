"""Corners of tracing, graphs and rewriting that public reports on torch.fx are about: the same on both libraries."""
import copy
import dataclasses
import functools
import importlib
import operator
import pickle
from collections import namedtuple

import numpy as np
import pytest

BOTH = ["torch", "teachtorch"]
Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Pair:
    a: object
    b: object


def library(name):
    importlib.import_module(f"{name}.fx")
    return importlib.import_module(name)


@pytest.fixture(params=BOTH)
def torch(request):
    return library(request.param)


def on_both(make):
    """What `make(library)` gives for PyTorch and for teachtorch, as text with one name for both."""
    return [str(make(library(name))).replace("teachtorch", "torch") for name in BOTH]


def annotated(torch):
    def forward(x: torch.Tensor, n: int = 2) -> torch.Tensor:
        return x * n
    return torch.fx.symbolic_trace(forward)


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2
    return wrapper


TRACED = {
    "annotations": annotated,
    "decorated": lambda torch: torch.fx.symbolic_trace(doubled(lambda x: x + 1)),
    "named tuple": lambda torch: torch.fx.symbolic_trace(lambda x: Point(x, [x + 1])),
    "dataclass": lambda torch: torch.fx.symbolic_trace(lambda x: Pair(x, x + 1)),
    "infinities": lambda torch: torch.fx.symbolic_trace(lambda x: x.clamp(float("-inf"), float("inf")) + float("nan")),
    "device": lambda torch: torch.fx.symbolic_trace(lambda x: x.to(torch.device("cpu"))),
    "copied": lambda torch: torch.fx.symbolic_trace(lambda x: copy.copy(x) + 1),
    "reflected": lambda torch: torch.fx.symbolic_trace(lambda x: 1 - 2 / x + 3 // x - 2 ** x),
    "no_grad": lambda torch: torch.fx.symbolic_trace(torch.no_grad()(lambda x: x + 1)),
    "only keyword": lambda torch: torch.fx.symbolic_trace(positional_and_keyword),
    "specialised": lambda torch: torch.fx.symbolic_trace(lambda x, n=3: x * n, {"n": 4}),
    "tuple of values": lambda torch: torch.fx.symbolic_trace(lambda x, n=3: x * n, (torch.fx.PH, 4)),
}


def positional_and_keyword(x, /, y, *rest, scale=1, **named):
    return x + y + rest[0] + scale + named["z"]


@pytest.mark.parametrize("name", TRACED)
def test_graph_and_code_are_pytorchs(name):
    theirs, ours = on_both(lambda torch: (lambda t: (str(t.graph), t.code.rstrip()))(TRACED[name](torch)))
    assert ours == theirs


def test_inputs_may_be_nested(torch):
    PH = torch.fx.PH
    traced = torch.fx.symbolic_trace(lambda d, n: {"sum": d["a"] + d["b"][0], "n": n},
                                     {"d": {"a": PH, "b": [PH]}, "n": 3})
    assert [n.name for n in traced.graph.nodes][:3] == ["d_1", "d_2", "n_1"]
    one = torch.ones(1)
    found = traced({"a": one, "b": [one]}, 3)
    assert found["sum"].item() == 2 and found["n"] == 3
    with pytest.raises(AssertionError, match="n has been specialized to have value 3 but got another value"):
        traced({"a": one, "b": [one]}, 4)
    assert torch.fx.Interpreter(traced).run({"a": one, "b": [one]}, 3)["sum"].item() == 2


def test_an_argument_that_was_none_must_be_none(torch):
    traced = torch.fx.symbolic_trace(lambda x, mask=None: x if mask is None else x * mask, {"mask": None})
    assert traced(torch.ones(1)).item() == 1
    with pytest.raises(AssertionError, match="mask has been specialized to have value None"):
        traced(torch.ones(1), torch.ones(1))


REFUSED = {
    "list index": (lambda x: [1, 2][x], TypeError),
    "range": (lambda x: range(x.shape[0]), TypeError),
    "float": (lambda x: float(x), TypeError),
    "deletion": (lambda x: operator.delitem(x, 0), TypeError),
    "key of a dict": (lambda x: {x: 1}, RuntimeError),
    "set": (lambda x: {x}, NotImplementedError),
    "star in the middle": (lambda x: (lambda a, *b: a)(*x), ValueError),
    "max": (lambda x: max(x, 1), ValueError),
    "in": (lambda x: 1 in x, ValueError),
    "reversed": (lambda x: reversed(x), RuntimeError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_are_of_pytorchs_class(torch, name):
    function, error = REFUSED[name]
    with pytest.raises(error):
        torch.fx.symbolic_trace(function)


@pytest.mark.parametrize("root", [max, int, functools.partial(max, 1)])
def test_what_is_no_function_is_refused(torch, root):
    with pytest.raises(AssertionError, match="Expected FunctionType, got"):
        torch.fx.symbolic_trace(root)


# ---- graphs and modules ----------------------------------------------------------------------------------

def test_lines_of_the_code_can_be_changed(torch):
    traced = torch.fx.symbolic_trace(lambda x: x + 1)
    with traced.graph.on_generate_code(lambda present: lambda lines: ["# first\n", *lines]):
        traced.recompile()
        assert "# first\n" in traced.code and traced(torch.ones(1)).item() == 2
    traced.recompile()
    assert "# first" not in traced.code


def test_replacing_all_uses_also_rewrites_the_new_node(torch):
    traced = torch.fx.symbolic_trace(lambda x: torch.relu(x))
    relu = list(traced.graph.nodes)[1]
    with traced.graph.inserting_after(relu):
        new = traced.graph.call_function(torch.sigmoid, (relu,))
    relu.replace_all_uses_with(new)
    assert new.args == (new,)
    with pytest.raises(RuntimeError, match="was used before it has been defined"):
        traced.graph.lint()
    new.args = (relu,)
    traced.graph.lint()


def test_attributes_of_a_root_dict_become_buffers(torch):
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(torch.add, (x, graph.get_attr("shift"))))
    module = torch.fx.GraphModule({"shift": torch.ones(2)}, graph)
    assert list(module.state_dict()) == ["shift"] and module(torch.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="Node shift referenced target shift but that target was not provided"):
        torch.fx.GraphModule({}, graph)
    with pytest.raises(RuntimeError, match="Unsupported type 3 passed for root!"):
        torch.fx.GraphModule(3, graph)


def test_a_missing_attribute_is_warned_of(torch):
    traced = torch.fx.symbolic_trace(lambda x: x)
    with pytest.warns(UserWarning, match="Attempted to insert a get_attr Node with no underlying reference"):
        traced.graph.get_attr("nowhere")


def test_meta_and_attributes_survive_copies_and_pickles(torch):
    traced = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 2)).eval())
    traced.meta["note"] = 1
    traced.custom = 5
    assert copy.deepcopy(traced).meta == {"note": 1} and copy.copy(traced).graph is traced.graph
    again = pickle.loads(pickle.dumps(traced))
    assert again.custom == 5 and not again.training
    assert again(torch.ones(1, 2)).tolist() == traced(torch.ones(1, 2)).tolist()


def test_the_interpreter_names_the_node_that_failed(torch):
    traced = torch.fx.symbolic_trace(lambda x: (x + 1) @ x)
    with pytest.raises(RuntimeError, match="While executing %matmul"):
        torch.fx.Interpreter(traced).run(torch.ones(2, 3))


def test_frozen_randomness_and_training_flags(torch):
    """What no proxy takes part in is run once: fresh noise becomes a constant, `self.training` its value."""
    class Noisy(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.dropout(x + torch.rand(100), 0.5, self.training)
    traced = torch.fx.symbolic_trace(Noisy()).eval()
    assert [n.target for n in traced.graph.nodes if n.op == "get_attr"] == ["_tensor_constant0"]
    assert (traced(torch.ones(100)) == 0).sum() > 10                            # still drops, though in eval mode


# ---- patterns --------------------------------------------------------------------------------------------

PATTERNS = {
    "in order": (lambda t: lambda x: t.neg(x) + t.relu(x), lambda t: lambda x: t.neg(x) + t.relu(x), lambda t: t.relu),
    "constants must agree": (lambda t: lambda x: t.add(x, 1) + t.add(x, 2), lambda t: lambda x: t.add(x, 1), lambda t: t.neg),
    "constants as wildcards": (lambda t: lambda x: t.add(x, 1), lambda t: lambda x, n: t.add(x, n),
                               lambda t: lambda x, n: t.mul(x, n)),
    "two results": (lambda t: lambda x: (t.neg(x), t.relu(x)), lambda t: lambda x: (t.neg(x), t.relu(x)),
                    lambda t: lambda x: (t.relu(x), t.neg(x))),
    "chain": (lambda t: lambda x: t.sigmoid(t.sigmoid(t.sigmoid(x))), lambda t: lambda x: t.sigmoid(t.sigmoid(x)),
              lambda t: lambda x: t.exp(x)),
    "identity": (lambda t: lambda x: t.relu(x) + 1, lambda t: lambda x: t.relu(x), lambda t: lambda x: x),
    "middle used outside": (lambda t: middle_used(t), lambda t: lambda x: t.relu(t.neg(x)), lambda t: lambda x: t.exp(x)),
    "one node for two parameters": (lambda t: lambda x: x + x, lambda t: lambda x, y: x + y, lambda t: lambda x, y: x * y),
    "two nodes for one parameter": (lambda t: lambda x, y: x + y, lambda t: lambda x: x + x, lambda t: lambda x: x * 2),
    "keyword or not": (lambda t: lambda x: t.sum(x, dim=0), lambda t: lambda x: t.sum(x, 0), lambda t: lambda x: t.mean(x, 0)),
    "methods": (lambda t: lambda x: x.relu().sum(), lambda t: lambda x: x.relu(), lambda t: lambda x: x.tanh()),
}


def middle_used(torch):
    def forward(x):
        a = torch.neg(x)
        return torch.relu(a) + a
    return forward


def plain(function):
    return (lambda x: function(x)) if not isinstance(function, type(plain)) or function.__name__ != "<lambda>" else function


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_are_replaced_as_by_pytorch(name):
    found = []
    for torch in map(library, BOTH):
        function, pattern, replacement = [make(torch) for make in PATTERNS[name]]
        traced = torch.fx.symbolic_trace(function)
        matches = torch.fx.replace_pattern(traced, pattern, plain(replacement))
        traced.graph.lint()
        inputs = [torch.from_numpy(np.array([[1.0, -2.0], [0.5, 3.0]])) + i
                  for i, _ in enumerate(traced.graph.find_nodes(op="placeholder"))]
        result = traced(*inputs)
        result = result if isinstance(result, tuple) else (result,)
        found.append((len(matches), [r.numpy().round(12).tolist() for r in result]))
    assert found[1] == found[0]


def test_a_replacement_may_be_a_module(torch):
    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(2, 2)
            self.w = torch.nn.Parameter(torch.ones(2))

        def forward(self, x):
            return self.lin(x) * self.w
    traced = torch.fx.symbolic_trace(lambda x: torch.relu(x))
    module = Scaled()
    torch.fx.replace_pattern(traced, lambda x: torch.relu(x), module)
    assert sorted(traced.state_dict()) == ["lin.bias", "lin.weight", "w"]
    assert traced(torch.ones(2)).tolist() == module(torch.ones(2)).tolist()


def test_filters_choose_places(torch):
    rewriter = importlib.import_module(f"{torch.__name__}.fx.subgraph_rewriter")
    traced = torch.fx.symbolic_trace(lambda x: torch.relu(x) + torch.relu(x + 1))
    done = rewriter.replace_pattern_with_filters(
        traced, lambda x: torch.relu(x), lambda x: torch.tanh(x),
        [lambda match, graph, pattern: match.placeholder_nodes[0].op == "placeholder"])
    assert len(done) == 1 and [n.target for n in done[0].replacements] == [torch.tanh]
    assert [n.target for n in traced.graph.nodes].count(torch.relu) == 1


def test_parameters_of_pattern_and_replacement_must_be_as_many(torch):
    traced = torch.fx.symbolic_trace(lambda x: torch.relu(x))
    with pytest.raises(AssertionError):
        torch.fx.replace_pattern(traced, lambda x: torch.relu(x), lambda x, y: torch.neg(x))


def test_operators_are_noted_under_their_full_names(torch):
    traced = torch.fx.symbolic_trace(lambda x: torch.ops.aten.relu(torch.ops.aten.add.Tensor(x, 1)))
    assert [str(n.target) for n in traced.graph.nodes if n.op == "call_function"] == ["aten.add.Tensor", "aten.relu"]
    assert "torch.ops.aten.add.Tensor(x, 1)" in traced.code and traced(torch.tensor([-3.0])).item() == 0.0
