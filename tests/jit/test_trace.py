"""jit.trace: one run as a graph; what it cannot see is warned of; what was saved runs without the Python."""
import importlib
import io
import itertools
import json
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest


@pytest.fixture(params=["torch", "teachtorch"])
def torch(request):
    return library(request.param)


@pytest.fixture
def ours():
    return library("teachtorch")


def library(name):
    importlib.import_module(f"{name}.jit")
    return importlib.import_module(name)


def trace(torch, *args, **kwargs):
    """The trace, and the texts of TracerWarnings with their lines."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = torch.jit.trace(*args, **kwargs)
    return found, [(str(w.message), w.filename, w.lineno) for w in seen if w.category.__name__ == "TracerWarning"]


def network(torch):
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Linear(32, 3))
    with torch.no_grad():
        for i, p in enumerate(net.parameters()):
            p.copy_(torch.from_numpy(np.random.default_rng(i).standard_normal(tuple(p.shape)).astype(np.float32)))
    return net.eval()


def image(torch, seed=9):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal((2, 1, 6, 6)).astype(np.float32))


def test_a_traced_module_computes_what_the_module_does_and_shares_its_parameters(torch):
    net = network(torch)
    traced, warned = trace(torch, net, image(torch))
    np.testing.assert_array_equal(traced(image(torch, 1)).detach().numpy(), net(image(torch, 1)).detach().numpy())
    assert sorted(dict(traced.named_parameters())) == sorted(dict(net.named_parameters())) and not warned
    traced(image(torch)).sum().backward()
    assert net[0].weight.grad is not None


def test_tracing_says_that_it_is_deprecated(torch):
    with pytest.warns(DeprecationWarning, match="Please switch to `torch.compile` or `torch.export`"):
        torch.jit.trace(lambda x: x + 1, torch.ones(1), check_trace=False)


def branching(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


def test_a_branch_is_frozen_and_warned_of_with_its_line(torch):
    traced, warned = trace(torch, branching, torch.ones(2))
    assert traced(torch.tensor([-5.0, 1.0])).tolist() == [-4.0, 2.0]           # the function gives [-6, 0]
    message, file, line = warned[0]
    assert message.startswith("Converting a tensor to a Python boolean might cause the trace to be incorrect")
    assert file == __file__ and line == branching.__code__.co_firstlineno + 1


VALUES = {"number": lambda x: x * x.sum().item(), "float": lambda x: x * float(x.sum()), "integer": lambda x: x * int(x.sum()),
          "list": lambda x: x * x.tolist()[0]}


@pytest.mark.parametrize("name", VALUES)
def test_a_number_taken_out_of_a_tensor_is_frozen_and_warned_of(ours, name):
    traced, warned = trace(ours, VALUES[name], ours.tensor([2.0]))
    assert traced(ours.tensor([3.0])).item() == 6.0 and f"Python {name}" in warned[0][0]


def test_iterating_is_warned_of(torch):
    _, warned = trace(torch, lambda x: sum(row for row in x), torch.ones(2, 2))
    assert any("Iterating over a tensor might cause the trace to be incorrect" in text for text, _, _ in warned)


def test_random_operators_fail_the_check(torch):
    _, warned = trace(torch, lambda x: x + torch.rand(2), torch.ones(2))
    texts = " ".join([text for text, _, _ in warned])
    assert "Trace had nondeterministic nodes" in texts and "Output nr 1. of the traced function does not match" in texts


def test_python_state_fails_the_check(torch):
    count = itertools.count()
    with pytest.raises(torch.jit.TracingCheckError, match="Graphs differed across invocations"):
        trace(torch, lambda x: x * 2 if next(count) % 2 else x + 1, torch.ones(2))


def test_inputs_and_outputs_may_be_nested(torch):
    def function(x, d):
        return {"sum": x + d["k"], "both": d["k"] * 2}
    traced, _ = trace(torch, function, (torch.ones(2), {"k": torch.ones(2)}), strict=False)
    found = traced(torch.zeros(2), {"k": torch.full((2,), 3.0)})
    assert found["sum"].tolist() == [3.0, 3.0] and found["both"].tolist() == [6.0, 6.0]


def test_what_is_no_tensor_is_refused(torch):
    with pytest.raises(RuntimeError, match="Only Tensors and"):
        trace(torch, lambda x, n: x * n, (torch.ones(1), "two"))
    with pytest.raises(RuntimeError, match="Only tensors, lists, tuples of tensors"):
        trace(torch, lambda x: "text", torch.ones(1))


def test_changes_in_place_are_replayed_and_the_example_is_left_alone(torch):
    def function(x):
        x[0] = 5
        x.view(-1).mul_(2)
        return x + 0
    example = torch.ones(2)
    traced, _ = trace(torch, function, example)
    given = torch.zeros(2)
    assert traced(given).tolist() == [10.0, 0.0] and given.tolist() == [10.0, 0.0]
    assert torch.__name__ == "torch" or example.tolist() == [1.0, 1.0]           # PyTorch changes it


def test_one_tensor_given_twice_is_two_inputs(torch):
    x = torch.ones(1)
    traced, _ = trace(torch, lambda a, b: a - b, (x, x))
    assert traced(torch.tensor([5.0]), torch.tensor([2.0])).item() == 3.0


def test_the_switch_tells_that_a_trace_is_made(torch):
    seen = []
    trace(torch, lambda x: (seen.append(torch.jit.is_tracing()), x + 1)[1], torch.ones(1), check_trace=False)
    assert seen == [True] and not torch.jit.is_tracing()


@pytest.mark.parametrize("make, shapes", [
    (lambda t: t.nn.LSTM(2, 3), [(4, 1, 2)]), (lambda t: t.nn.MultiheadAttention(4, 2).eval(), [(3, 1, 4)] * 3),
    (lambda t: t.nn.TransformerEncoderLayer(4, 2, 8).eval(), [(3, 1, 4)])])
def test_larger_modules_are_traced(ours, make, shapes):
    ours.manual_seed(0)
    module = make(ours)
    inputs = [ours.randn(*shape) for shape in shapes]
    traced, warned = trace(ours, module, tuple(inputs))
    others = [ours.randn(*shape) for shape in shapes]
    result, expected = traced(*others), module(*others)
    first = [r if isinstance(r, ours.Tensor) else r[0] for r in (result, expected)]
    assert ours.allclose(*first) and not warned


# ---- as text ---------------------------------------------------------------------------------------------

def test_the_graph_shows_types_shapes_and_lines(ours):
    traced, _ = trace(ours, lambda x, y: (x @ y).relu(), (ours.ones(2, 3), ours.ones(3, 4)))
    assert str(traced.graph).splitlines()[:3] == [
        "graph(%x : Float(2, 3, strides=[3, 1], device=cpu),", "      %y : Float(3, 4, strides=[4, 1], device=cpu)):",
        f"  %mm : Float(2, 4, strides=[4, 1], device=cpu) = aten::mm(%x, %y)  # test_trace.py:"
        f"{test_the_graph_shows_types_shapes_and_lines.__code__.co_firstlineno + 1}"]
    assert "mm = torch.ops.aten.mm.default(x, y)" in traced.code


# ---- files -----------------------------------------------------------------------------------------------

def saved(torch, traced):
    buffer = io.BytesIO()
    torch.jit.save(traced, buffer)
    buffer.seek(0)
    return buffer


def test_what_was_saved_comes_back(torch):
    net = network(torch)
    traced, _ = trace(torch, net, image(torch))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        again = torch.jit.load(saved(torch, traced))
    np.testing.assert_array_equal(again(image(torch, 2)).detach().numpy(), net(image(torch, 2)).detach().numpy())
    assert [p.requires_grad for p in again.parameters()] == [True] * 6
    assert {name for name, _ in again.named_buffers()} >= {"1.running_mean", "1.running_var"}


def test_a_file_runs_in_a_process_that_knows_nothing_of_the_model(ours, tmp_path):
    traced, _ = trace(ours, network(ours), image(ours))
    traced.save(tmp_path / "net.pt")
    code = ("import sys, teachtorch as torch; net = torch.jit.load(sys.argv[1]); "
            "print(tuple(net(torch.ones(2, 1, 6, 6)).shape))")
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "net.pt"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(2, 3)"


@pytest.mark.parametrize("kind", ["float32", "float64", "bfloat16", "int64", "bool"])
def test_constants_of_every_dtype_are_kept(ours, kind):
    constant = ours.ones(3).to(getattr(ours, kind))
    traced, _ = trace(ours, lambda x: (x * 1, constant.clone()), ours.ones(1))
    again = ours.jit.load(saved(ours, traced))
    found = again(ours.ones(1))[1]
    assert found.dtype == constant.dtype and found.tolist() == constant.tolist()


def test_a_file_can_name_operators_alone(ours, tmp_path):
    traced, _ = trace(ours, lambda x: x + 1, ours.ones(1))
    with zipfile.ZipFile(saved(ours, traced)) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    graph = json.loads(contents["graph.json"])
    for target in ("os.system", "__class__.__init__", "aten.add"):
        next(n for n in graph["nodes"] if n["op"] == "call_function")["target"] = target
        with zipfile.ZipFile(tmp_path / "evil.pt", "w") as archive:
            for name, content in (contents | {"graph.json": json.dumps(graph)}).items():
                archive.writestr(name, content)
        with pytest.raises(RuntimeError, match="names an operator that is not known"):
            ours.jit.load(tmp_path / "evil.pt")


CODE = "x=open(__file__)"  # what would run if it came into the graph's Python
HOSTILE = {
    "a parameter's name": ("placeholder", {"target": CODE}),
    "the name of a keyword": ("call_function", {"kwargs": {"kind": "dict", "items": {f"alpha={CODE}, beta": 1}}}),
    "a keyword of Python's": ("placeholder", {"target": "lambda"}),
    "a path": ("placeholder", {"op": "get_attr", "target": f"forward or {CODE}"}),
    "a method": ("call_function", {"op": "call_method", "target": "__reduce__"}),
    "a module": ("call_function", {"op": "call_module", "target": f"forward or {CODE}"}),
    "a node": ("call_function", {"args": {"kind": "tuple", "items": [{"kind": "node", "name": "nowhere"}]}}),
    "a kind": ("call_function", {"args": {"kind": "tuple", "items": [{"kind": "eval", "text": CODE}]}}),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_cannot_bring_code_of_its_own(ours, tmp_path, what):
    op, change = HOSTILE[what]
    traced, _ = trace(ours, lambda x: x + 1, ours.ones(1))
    with zipfile.ZipFile(saved(ours, traced)) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    graph = json.loads(contents["graph.json"])
    next(n for n in graph["nodes"] if n["op"] == op).update(change)
    with zipfile.ZipFile(tmp_path / "evil.pt", "w") as archive:
        for name, content in (contents | {"graph.json": json.dumps(graph)}).items():
            archive.writestr(name, content)
    with pytest.raises(RuntimeError, match="the file (has|uses) "):
        ours.jit.load(tmp_path / "evil.pt")


def test_other_files_are_refused(ours):
    with pytest.raises(RuntimeError, match="no zip archive"):
        ours.jit.load(io.BytesIO(b"text"))
    with pytest.raises(TypeError, match="jit.save writes what jit.trace returned"):
        ours.jit.save(ours.nn.Linear(1, 1), io.BytesIO())


# ---- freezing --------------------------------------------------------------------------------------------

def test_freezing_computes_what_depends_on_parameters(ours):
    net = network(ours)
    traced, _ = trace(ours, net, image(ours))
    frozen = ours.jit.optimize_for_inference(traced)
    assert "t" not in [n.name for n in frozen.graph.calls()] and [s.name for s in frozen.history] == ["folding", "merging",
                                                                                                      "cleaning"]
    assert ours.allclose(frozen(image(ours, 3)), net(image(ours, 3)))


def test_freezing_wants_a_traced_module_in_eval_mode(torch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with pytest.raises(RuntimeError, match="Freezing expects a ScriptModule as input"):
            torch.jit.freeze(torch.nn.Linear(1, 1))
        traced, _ = trace(torch, torch.nn.Linear(1, 1), torch.ones(1, 1))
        with pytest.raises(RuntimeError, match="Freezing is currently only implemented for modules in eval mode"):
            torch.jit.freeze(traced)


def test_script_says_what_it_is_not(ours):
    with pytest.raises(NotImplementedError, match="compiles the source of a function"):
        ours.jit.script(branching)
    assert ours.jit.ignore(branching) is branching and ours.jit.ignore()(branching) is branching
    assert not ours.jit.is_scripting()
