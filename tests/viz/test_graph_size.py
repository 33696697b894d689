"""Graphs of any size are drawn, and the picture says what it leaves out."""

import pytest

import viz
from viz import dot


def chain(lib, length):
    y = lib.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(length):
        y = y.sin()
    return y


def notes(picture):
    return " ".join(picture.trace.notes)


def test_ten_thousand_nodes_fold_into_a_handful(lib):
    picture = viz.graph(chain(lib, 10_000), names=False)
    (fold,) = [node for node in picture.trace.nodes if node["kind"] == "fold"]
    assert fold["pattern"] == ["SinBackward0"]
    assert fold["times"] == fold["count"] == 9_997
    assert "Showing 4 of 10 001 nodes: 9 997 nodes are folded" in notes(picture)


def test_a_small_graph_is_not_folded(lib):
    picture = viz.graph(chain(lib, 20), names=False)
    assert [node["kind"] for node in picture.trace.nodes] == ["root"] + ["op"] * 20 + ["leaf"]


@pytest.mark.skipif(not dot._installed("graphviz-pure"), reason="needs graphviz-pure")
def test_a_chain_with_unneeded_slots_runs_straight_down(lib):
    y = lib.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(6):
        y = y * 1.01 + 0.1
    layout = dot.layout(viz.graph(y).source)
    middles = [float(card["pos"].split(",")[0]) for card in layout["objects"]]
    assert max(middles) - min(middles) < 4


def test_max_nodes_decides(lib):
    y = chain(lib, 20)
    assert len(viz.graph(y, max_nodes=10).trace.nodes) <= 11
    assert len(viz.graph(y, max_nodes=21).trace.nodes) == 22


def test_layers_fold_as_one_pattern_with_their_leaves(lib):
    y = lib.tensor([1.0], requires_grad=True)
    for _ in range(100):
        w = lib.tensor([1.0], requires_grad=True)
        y = (y * w).tanh()
    picture = viz.graph(y, names=False)
    (fold,) = [node for node in picture.trace.nodes if node["kind"] == "fold"]
    assert (fold["pattern"], fold["times"], fold["leaves"]) == (["TanhBackward0", "MulBackward0"], 97, 97)


def test_residual_blocks_fold_too(lib):
    y = lib.tensor([1.0], requires_grad=True)
    for _ in range(50):
        y = y + y.tanh().sin()
    (fold,) = [node for node in viz.graph(y, names=False).trace.nodes if node["kind"] == "fold"]
    assert fold["pattern"] == ["AddBackward0", "SinBackward0", "TanhBackward0"]


def test_a_shared_leaf_stays_outside_the_fold(lib):
    x = lib.tensor([1.0], requires_grad=True)
    y = x
    for _ in range(100):
        y = (y + x).tanh()
    picture = viz.graph(y)
    label = next(node for node in picture.trace.nodes if node["kind"] == "leaf")
    fold = next(node for node in picture.trace.nodes if node["kind"] == "fold")
    times = [
        edge["times"]
        for edge in picture.trace.edges
        if (edge["from"], edge["to"]) == (fold["id"], label["id"])
    ]
    assert times == [fold["times"]]


def test_folding_keeps_the_graph_free_of_cycles(lib):
    import random

    choose, made = random.Random(0), [lib.tensor([1.0], requires_grad=True)]
    for _ in range(400):
        made.append(choose.choice(made[-9:]) * choose.choice(made[-9:]).sin())
    picture = viz.graph(made[-1], names=False)
    assert len(picture.trace.nodes) <= 52
    place = {node["id"]: k for k, node in enumerate(picture.trace.nodes)}
    assert all(edge["from"] != edge["to"] for edge in picture.trace.edges)
    assert _has_no_cycle(place, picture.trace.edges)


def _has_no_cycle(place, edges):
    """Remove nodes nothing leads to, again and again."""
    left, edges = set(place), [(edge["from"], edge["to"]) for edge in edges]
    while left:
        free = left - {target for _, target in edges}
        if not free:
            return False
        left -= free
        edges = [edge for edge in edges if edge[0] in left]
    return True
