"""What the trace of a graph says must be what the engine has."""

import pytest

import viz


def leaf(lib, values):
    return lib.tensor(values, requires_grad=True)


def nodes(picture, kind):
    return [node for node in picture.trace.nodes if node["kind"] == kind]


def named(picture, label):
    return next(node for node in picture.trace.nodes if node["label"] == label)


def test_a_leaf_used_twice_is_one_card_with_two_edges(lib):
    y = leaf(lib, [1.0, 2.0])
    z = y + y
    picture = viz.graph(z)
    card = named(picture, "y")
    into = [edge for edge in picture.trace.edges if edge["to"] == card["id"]]
    assert [(edge["out"], edge["in"]) for edge in into] == [(0, 0), (1, 0)]
    assert card["waits"] == 2


def test_leaf_non_leaf_and_retained_are_told_apart_by_a_word(lib):
    x = leaf(lib, [1.0, 2.0])
    plain = x.exp()
    kept = plain.exp()
    kept.retain_grad()
    picture = viz.graph(kept.sum())
    words = {
        port["names"][0]: port["word"]
        for node in nodes(picture, "op")
        for port in node["ins"]
        if port["names"]
    }
    assert named(picture, "x")["word"] == "leaf"
    assert words == {"kept": "retains grad", "plain": "non-leaf"}


def test_grad_is_none_before_backward_and_has_values_after(lib):
    x = leaf(lib, [1.0, 2.0])
    loss = (x * x).sum()
    assert named(viz.graph(loss), "x")["grad"] is None
    loss.backward()
    assert [cell["text"] for cell in named(viz.graph(loss), "x")["grad"]["cells"]] == ["2", "4"]


def test_saved_tensors_have_names_shapes_and_bytes(lib):
    a, b = leaf(lib, [[1.0, 2.0]]), leaf(lib, [[3.0, 4.0]])
    picture = viz.graph(a * b)
    saved = nodes(picture, "op")[0]["saved"]
    assert [(s["name"], s["what"], s["bytes"], s["is"], s["state"]) for s in saved] == [
        ("self", "float32 [1, 2]", 8, "a", "kept"),
        ("other", "float32 [1, 2]", 8, "b", "kept"),
    ]


def test_add_saves_nothing(lib):
    a, b = leaf(lib, [1.0]), leaf(lib, [2.0])
    assert nodes(viz.graph(a + b), "op")[0]["saved"] == []


def test_backward_frees_what_was_saved_and_the_player_stops_there(lib):
    x = leaf(lib, [1.0, 2.0])
    loss = x.exp().sum()
    loss.backward()
    picture = viz.graph(loss)
    assert [item["state"] for item in named(picture, "ExpBackward0")["saved"]] == ["freed"]
    assert "a second time" in picture.trace.steps[-1]["msg"]
    assert picture.trace.steps[-1]["ids"] == [named(picture, "ExpBackward0")["id"]]


def test_a_graph_that_saved_nothing_can_run_again(lib):
    x = leaf(lib, [1.0, 2.0])
    loss = (x + x).sum()
    loss.backward()
    assert "AccumulateGrad of x" in viz.graph(loss).trace.steps[-1]["msg"]


def test_an_in_place_change_of_a_saved_result_is_reported(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x.exp()
    y.add_(x)
    picture = viz.graph(y)
    assert [item["state"] for item in named(picture, "ExpBackward0")["saved"]] == ["changed"]


def test_an_input_that_needs_no_gradient_has_a_slot_that_leads_nowhere(lib):
    x, c = leaf(lib, [1.0]), lib.tensor([2.0])
    outs = nodes(viz.graph(c * x), "op")[0]["outs"]
    assert [out["to"] is None for out in outs] == [True, False]


def test_forward_output_k_is_backward_input_k(lib):
    if not hasattr(getattr(lib, "linalg", None), "eigh"):
        pytest.skip("no linalg.eigh yet")
    x = leaf(lib, [[2.0, 0.0], [0.0, 1.0]])
    e, v = lib.linalg.eigh(x)
    a = x @ v
    picture = viz.graph(a)
    eigh = named(picture, "LinalgEighBackward0")
    edge = next(edge for edge in picture.trace.edges if edge["to"] == eigh["id"])
    assert (edge["out"], edge["in"]) == (1, 1)
    assert [(port["nr"], port["names"], port["used"]) for port in eigh["ins"]] == [
        (0, ["e"], False),
        (1, ["v"], True),
    ]


def test_several_roots_share_one_graph(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x.exp()
    first, second = y.sum(), y.mean()
    picture = viz.graph([first, second])
    assert [node["label"] for node in nodes(picture, "root")] == ["first", "second"]
    assert named(picture, "ExpBackward0")["waits"] == 2


def test_a_leaf_can_be_the_root(lib):
    x = leaf(lib, [1.0])
    picture = viz.graph(x)
    assert [node["kind"] for node in picture.trace.nodes] == ["leaf"]


def test_a_tensor_without_graph_is_explained(lib):
    d = leaf(lib, [1.0]).exp().detach()
    (card,) = viz.graph(d).trace.nodes
    assert card["kind"] == "ended"
    assert any("detach()" in line for line in card["lines"])
    (card,) = viz.graph(lib.tensor([1, 2])).trace.nodes
    assert any("int64 cannot carry a gradient" in line for line in card["lines"])


def test_names_come_from_the_caller_its_containers_and_what_is_given(lib):
    params = [leaf(lib, [1.0]), leaf(lib, [2.0])]
    loss = params[0] * params[1]
    labels = {node["label"] for node in nodes(viz.graph(loss), "leaf")}
    assert labels == {"params[0]", "params[1]"}
    given = viz.graph(loss, names={"weight": params[0]})
    assert {node["label"] for node in nodes(given, "leaf")} == {"weight", "unnamed"}
    assert {node["label"] for node in nodes(viz.graph(loss, names=False), "leaf")} == {"unnamed"}


def test_wrong_arguments_are_named(lib):
    x = leaf(lib, [1.0])
    with pytest.raises(TypeError, match="takes a tensor, got int"):
        viz.graph(3)
    with pytest.raises(ValueError, match="backward, forward, both"):
        viz.graph(x, direction="up")
    with pytest.raises(ValueError, match="empty list"):
        viz.graph([])
    with pytest.raises(ValueError, match="max_nodes"):
        viz.graph(x, max_nodes=0)
    with pytest.raises(TypeError, match="names"):
        viz.graph(x, names=3)


def test_a_module_must_be_called_first(lib):
    if not hasattr(lib, "nn"):
        pytest.skip("no nn yet")
    with pytest.raises(TypeError, match="call it"):
        viz.graph(lib.nn.Linear(1, 1))
