"""The player's order must be the order in which the engine really runs."""

import random

import viz
from viz.engine_order import run_order
from viz.walk import walk


def real_order(lib, loss, graph):
    """Run backward and note, by pre-hooks, which node runs when."""
    seen = []
    handles = [node.register_prehook(lambda grads, k=k: seen.append(k)) for k, node in enumerate(graph.nodes)]
    loss.backward()
    for handle in handles:
        handle.remove()
    return seen


def operations(graph, order):
    """Equal sequence numbers leave the order of leaves open, so compare operations."""
    return [k for k in order if not graph.is_leaf(k)]


def random_graph(lib, seed, length=30):
    choose = random.Random(seed)
    made = [lib.tensor([1.0, 2.0], requires_grad=True) for _ in range(3)]
    for _ in range(length):
        a, b = choose.choice(made), choose.choice(made[-4:])
        made.append(choose.choice([lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a.tanh()])(a, b))
    return made[-1].sum()


def test_operations_run_in_the_engines_order(lib):
    for seed in range(5):
        loss = random_graph(lib, seed)
        graph = walk([loss])
        planned = [visit.node for visit in run_order(graph)]
        assert operations(graph, planned) == operations(graph, real_order(lib, loss, graph))


def test_a_leaf_runs_as_soon_as_its_gradients_are_there(lib):
    a, b = (lib.tensor([1.0], requires_grad=True) for _ in range(2))
    d, e = a.exp(), b.exp()
    steps = viz.graph(d + e).trace.steps
    order = [step["msg"].split(" runs")[0] for step in steps[1:]]
    assert order == [
        "AddBackward0",
        "ExpBackward0 #1",
        "AccumulateGrad of b",
        "ExpBackward0 #0",
        "AccumulateGrad of a",
    ]


def test_a_node_waits_for_every_gradient(lib):
    x = lib.tensor([1.0], requires_grad=True)
    y = x.exp()
    loss = y.tanh() + y.sin()
    picture = viz.graph(loss)
    exp = next(node["id"] for node in picture.trace.nodes if node["label"] == "ExpBackward0")
    waits = [
        step["set"][f"{exp}.waits"]["text"] for step in picture.trace.steps if f"{exp}.waits" in step["set"]
    ]
    assert waits == ["waits for 1", "ready", "done"]


def test_every_edge_is_sent_once(lib):
    graph = walk([random_graph(lib, 7)])
    sent = sum(len(visit.sends) for visit in run_order(graph))
    assert sent == sum(edge is not None for edges in graph.edges for edge in edges)


def test_an_unreached_root_waits_for_the_other_root(lib):
    x = lib.tensor([1.0], requires_grad=True)
    y = x.exp()
    z = y.tanh()
    graph = walk([y, z])
    assert [graph.name(visit.node) for visit in run_order(graph)] == [
        "TanhBackward0",
        "ExpBackward0",
        "AccumulateGrad",
    ]
