"""The pictures of the dispatcher, against what the dispatcher does."""

import pytest

import viz


def rows(picture, kind="hop"):
    return [node for node in picture.trace.nodes if node["kind"] == kind]


def path(picture):
    """[(operator, depth, the key that ran)]"""
    ran = ("runs", "composite")
    return [
        (n["label"].lstrip("↓ "), n["depth"], *[k for k, r in n["cells"].items() if r in ran]) for n in rows(picture)
    ]


@pytest.fixture
def torch():
    return pytest.importorskip("teachtorch")


def test_a_call_goes_from_autograd_to_the_backend(torch):
    a = torch.ones(2)
    assert path(viz.dispatch(torch.add, a, a)) == [("add", 0, "Autograd"), ("add", 1, "CPU")]


def test_without_grad_the_thread_takes_autograd_out(torch):
    a = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        picture = viz.dispatch(torch.add, a, a)
    assert path(picture) == [("add", 0, "CPU")]
    assert picture.trace.by_id()["excluded"]["cells"] == {"Autograd": "out"}


def test_an_inference_tensor_carries_its_backend_alone(torch):
    with torch.inference_mode():
        a = torch.ones(2)
    assert viz.dispatch(torch.add, a, a).trace.by_id()["a0"]["cells"] == {"CPU": "carried"}


def test_a_composition_falls_apart_above_autograd(torch):
    x, w, b = torch.ones(2, 3), torch.ones(4, 3), torch.ones(4)
    found = path(viz.dispatch(torch.nn.functional.linear, x, w, b))
    assert [op for op, depth, _ in found if depth <= 1] == ["linear", "t", "addmm"]
    assert rows(viz.dispatch(torch.nn.functional.linear, x, w))[0]["cells"]["Autograd"] == "composite"


def test_views_stop_at_ADInplaceOrView_and_functional_operators_skip_it(torch):
    a = torch.ones(2, 3)
    assert ("t", 1, "ADInplaceOrView") in path(viz.dispatch(torch.t, a))
    cells = rows(viz.dispatch(torch.exp, a))[1]["cells"]
    assert cells == {"ADInplaceOrView": "skipped", "BackendSelect": "skipped", "CPU": "runs"}


def test_a_factory_is_dispatched_on_its_device(torch):
    assert path(viz.dispatch(torch.ones, 3)) == [("ones", 0, "BackendSelect"), ("ones", 1, "CPU")]
    assert path(viz.dispatch(torch.ones, 3, device="meta"))[1] == ("ones", 1, "Meta")


def test_the_kernels_code_is_where_the_picture_says(torch):
    from pathlib import Path

    place = rows(viz.dispatch(torch.nn.functional.linear, torch.ones(2, 3), torch.ones(4, 3)))[0]["where"]
    file, line = place.split(":")
    lines = (Path(torch.__file__).parent / file).read_text(encoding="utf-8").splitlines()
    assert "def linear(" in "\n".join(lines[int(line) - 1 : int(line) + 1])


def test_a_call_that_fails_is_drawn_as_far_as_it_came(torch):
    picture = viz.dispatch(torch.nonzero, torch.ones(2, device="meta"))
    assert picture.trace.notes[0].startswith("It fails: NotImplementedError: Could not run 'nonzero'")


def test_a_long_run_is_cut_and_says_so(torch):
    picture = viz.dispatch(lambda: [torch.ones(1) for _ in range(100)])
    assert "Showing 60 of 200." in picture.trace.notes
    assert len(picture.trace.steps) == 60


def test_nothing_listens_afterwards(torch):
    from teachtorch.core import observer

    viz.dispatch(torch.ones, 3)
    assert not observer.active


def test_the_operators_of_pytorch_are_those_that_its_mode_sees():
    torch = pytest.importorskip("torch")
    picture = viz.dispatch(torch.nn.functional.linear, torch.ones(2, 3), torch.ones(4, 3), torch.ones(4))
    assert [n["label"] for n in rows(picture)] == ["aten.t.default", "aten.addmm.default"]
    assert "below autograd" in picture.trace.notes[0]


def test_both_libraries_take_a_call_apart_alike(torch):
    real = pytest.importorskip("torch")
    for name, shape in (("softmax", (2, 3)), ("square", (3,)), ("std", (4,))):
        ours = {
            op for op, *_ in path(viz.dispatch(getattr(torch, name), torch.ones(shape), *[0] * (name == "softmax")))
        }
        picture = viz.dispatch(getattr(real, name), real.ones(shape), *[0] * (name == "softmax"))
        assert {n["label"].split(".")[1] for n in rows(picture)} <= ours, name


def test_the_table_says_what_each_key_has(torch):
    picture = viz.dispatch.table("add", "linear", "transpose", "nonzero", keys=("CPU", "Meta", "Autograd"))
    cells = {n["label"]: n["cells"] for n in rows(picture, "operator")}
    assert cells["add"] == {"Autograd": "runs", "Meta": "runs", "CPU": "runs"}
    assert cells["linear"] == {"Autograd": "composite", "Meta": "composite", "CPU": "composite"}
    assert cells["transpose"]["CPU"] == "explicit"
    assert cells["nonzero"] == {"Autograd": "skipped", "Meta": "missing", "CPU": "runs"}


def test_a_composition_is_not_taken_apart_where_the_backend_has_a_kernel(torch):
    library = torch.library.Library("ranked", "DEF")
    library.define("f(Tensor x) -> Tensor")
    found = []
    for key in ("CompositeImplicitAutograd", "CPU", "Autograd"):
        library.impl("f", lambda x: x.clone(), key)
        found.append(rows(viz.dispatch.table("ranked::f", keys=("Autograd", "Meta", "CPU")), "operator")[0]["cells"])
    first = path(viz.dispatch(torch.ops.ranked.f, torch.ones(2)))[0]
    library._destroy()
    assert [cells["Autograd"] for cells in found] == ["composite", "skipped", "runs"]
    assert [cells["CPU"] for cells in found] == ["composite", "runs", "runs"]
    assert {cells["Meta"] for cells in found} == {"composite"} and first[2] == "Autograd"


def test_the_table_knows_a_fallback(torch):
    library = torch.library.Library("_", "IMPL")
    library.fallback(lambda op, *args, **kwargs: args[0], "Sim")
    cells = rows(viz.dispatch.table("exp", "linear", keys=("Sim",)), "operator")
    library._destroy()
    assert [each["cells"]["Sim"] for each in cells] == ["fallback", "composite"]
    assert torch.ops["exp"].served("Sim").how == "made"


def test_a_missing_kernel_is_one_whose_call_fails(torch):
    """The word "missing" under Meta, against calls."""
    for name in ("nonzero", "exp", "t"):
        is_missing = torch.ops[name].served("Meta").how == "missing"
        x = torch.ones(2, 2, device="meta")
        if is_missing:
            with pytest.raises(NotImplementedError):
                getattr(torch, name)(x)
        else:
            assert getattr(torch, name)(x).is_meta


def test_wrong_arguments_are_named(torch):
    with pytest.raises(TypeError, match="takes a function"):
        viz.dispatch(torch.ones(2))
    with pytest.raises(KeyError, match="no operator"):
        viz.dispatch.table("nothing")


def test_names_of_keys_are_whole_in_a_text_that_has_room(torch):
    sparse, dense = torch.eye(2).to_sparse(), torch.ones(2, 2)
    header = viz.dispatch(torch.mm, sparse, dense).text.splitlines()[3]
    assert header.split() == ["Autograd", "ADInplaceOrView", "BackendSelect", "SparseCPU", "CPU"]
