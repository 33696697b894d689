"""viz.fx: every call once, what a pass did, shapes when they are known; of PyTorch's graphs too."""

import copy
import importlib
import shutil
from xml.etree import ElementTree

import pytest

import viz
from viz import dot

LAYOUT = pytest.mark.skipif(
    not shutil.which("graphviz-pure") and not dot._installed("graphviz-pure"), reason="needs graphviz-pure"
)

PLAIN = """\
a graph of 4 nodes
1 placeholder, 2 call_function, 1 output.

  x       placeholder
  relu    relu(x)
  add     add(relu, 1)
  output  return add"""

COMPARED = """\
a graph before and after
4 nodes before, 4 nodes after: 1 added, 1 vanished, 1 changed, 2 as before.

  x       placeholder
- relu    relu(x)
+ tanh    tanh(x)
~ add     add(tanh, 1)
      was add(relu, 1)
  output  return add"""


@pytest.fixture
def fx(lib):
    return importlib.import_module(f"{lib.__name__}.fx")


def relu_plus_one(lib, fx):
    return fx.symbolic_trace(lambda x: lib.relu(x) + 1)


def test_a_graph_in_words(lib, fx):
    assert viz.fx(relu_plus_one(lib, fx)).text == viz.fx(relu_plus_one(lib, fx).graph).text == PLAIN


def test_a_rewrite_in_words(lib, fx):
    traced = relu_plus_one(lib, fx)
    before = copy.deepcopy(traced.graph)
    fx.replace_pattern(traced, lambda x: lib.relu(x), lambda x: lib.tanh(x))
    assert viz.fx(traced, before=before).text == COMPARED


def test_swapping_the_two_swaps_the_marks(lib, fx):
    traced = relu_plus_one(lib, fx)
    before = copy.deepcopy(traced.graph)
    fx.replace_pattern(traced, lambda x: lib.relu(x), lambda x: lib.tanh(x))
    marks = [{n["label"]: n["mark"] for n in viz.fx(*pair).trace.nodes} for pair in ((traced, before), (before, traced))]
    swap = {"added": "vanished", "vanished": "added"}
    assert marks[0]["tanh"] == "added" and {k: swap.get(v, v) for k, v in marks[0].items()} == marks[1]


def test_nothing_changed(lib, fx):
    traced = relu_plus_one(lib, fx)
    assert "nothing has changed" in viz.fx(traced, before=copy.deepcopy(traced.graph)).text


def test_shapes_and_classes_are_shown_when_known(lib, fx):
    traced = fx.symbolic_trace(lib.nn.Sequential(lib.nn.Linear(3, 2), lib.nn.ReLU()))
    shapes = importlib.import_module(f"{lib.__name__}.fx.passes.shape_prop")
    assert "float32" not in viz.fx(traced).text
    shapes.ShapeProp(traced).propagate(lib.ones(5, 3))
    assert [n["shape"] for n in viz.fx(traced).trace.nodes] == [
        "float32 (5, 3)", "Linear → float32 (5, 2)", "ReLU → float32 (5, 2)", "float32 (5, 2)"]


def big(lib, fx, layers):
    return fx.symbolic_trace(lib.nn.Sequential(*[lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.ReLU())
                                                 for _ in range(layers)]))


@LAYOUT
def test_hundreds_of_nodes_share_cards(lib, fx):
    picture = viz.fx(big(lib, fx, 200))
    assert len(picture.trace.nodes) <= 40 and "for 402 nodes." in picture.text
    assert len(ElementTree.fromstring(picture.svg).findall(".//*[@data-card]")) == len(picture.trace.nodes)


@LAYOUT
def test_in_a_big_graph_what_changed_keeps_its_card(lib, fx):
    traced = big(lib, fx, 100)
    before = copy.deepcopy(traced.graph)
    gone = next(n for n in traced.graph.nodes if n.target == "50.1")
    gone.replace_all_uses_with(gone.args[0])
    traced.graph.erase_node(gone)
    picture = viz.fx(traced, before=before)
    marked = {n["label"]: n["mark"] for n in picture.trace.nodes if n["mark"] != "same"}
    assert marked == {"_50_1": "vanished", "_51_0": "changed"} and len(picture.trace.nodes) < 10
    assert picture.svg


@LAYOUT
def test_every_card_and_edge_is_drawn(lib, fx):
    traced = relu_plus_one(lib, fx)
    before = copy.deepcopy(traced.graph)
    fx.replace_pattern(traced, lambda x: lib.relu(x), lambda x: lib.tanh(x))
    picture = viz.fx(traced, before=before)
    drawn = {part.get("data-id") for part in ElementTree.fromstring(picture.svg).iter()}
    assert {part["id"] for part in [*picture.trace.nodes, *picture.trace.edges]} <= drawn
    assert ends_of(picture) == {
        ("x", "relu"): "vanished", ("relu", "add"): "vanished",
        ("x", "tanh"): "added", ("tanh", "add"): "added", ("add", "output"): "",
    }


def ends_of(picture):
    """{(label, label): state} of the edges."""
    labels = {node["id"]: node["label"] for node in picture.trace.nodes}
    return {(labels[edge["from"]], labels[edge["to"]]): edge["state"] for edge in picture.trace.edges}


def test_a_node_that_reads_another_one_now_has_both_edges(lib, fx):
    traced = fx.symbolic_trace(lambda x, y: lib.add(x, x) + y)
    before = copy.deepcopy(traced.graph)
    x, y, add, total, _ = traced.graph.nodes
    total.args = (y, y)
    ends = ends_of(viz.fx(traced, before=before))
    assert ends[add.name, total.name] == "vanished" and ends[y.name, total.name] == ""
    assert ends[x.name, add.name] == ""


def test_a_trace_is_drawn_too():
    import warnings

    import teachtorch
    import teachtorch.jit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        traced = teachtorch.jit.trace(lambda x: x.exp() + 1, teachtorch.ones(2))
    assert "add.Tensor(exp, 1)   Float(2)" in viz.fx(traced).text


def test_what_is_no_graph_is_refused(lib):
    for other in (lib.nn.Linear(1, 1), lib.ones(1), 3):
        with pytest.raises(TypeError, match="trace it first"):
            viz.fx(other)


def test_a_graph_that_does_not_know_its_modules_shows_no_class(lib, fx):
    traced = fx.symbolic_trace(lib.nn.Sequential(lib.nn.Linear(3, 2)))
    assert "Linear" in viz.fx(traced.graph).text
    alone = fx.Graph()
    alone.output(alone.graph_copy(traced.graph, {}))
    assert alone.owning_module is None
    assert [node["shape"] for node in viz.fx(alone).trace.nodes] == ["", "", ""]
