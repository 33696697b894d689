"""viz.sparse: the entries of a sparse tensor and the grid they stand for."""

import pytest

import viz

# PyTorch says once that it does not look at indices.
pytestmark = pytest.mark.filterwarnings("ignore:Sparse invariant checks are implicitly disabled")


def example(lib):
    return lib.sparse_coo_tensor([[1, 0, 1, 1], [2, 2, 0, 2]], [3.0, 4.0, 5.0, 0.5], (2, 3))


def cells(picture, block):
    return {tuple(node["index"]): node for node in picture.trace.nodes if node["block"] == block}


def test_the_grid_shows_the_sums_and_marks_what_coalescing_adds(lib):
    u = example(lib)
    picture = viz.sparse(u)
    dense = cells(picture, "o")
    shown = [[float(dense[row, column]["text"]) for column in range(3)] for row in range(2)]
    assert shown == u.to_dense().tolist()
    assert {place for place, node in dense.items() if node["shared"]} == {(1, 2)} and dense[1, 2]["shared"] == 2
    assert {place for place, node in dense.items() if node["colour"] is None} == {(0, 0), (0, 1), (1, 1)}
    assert picture.trace.title == "u, 4 entries in 2 x 3"
    assert picture.trace.notes[0] == ("u is not coalesced: 1 entry repeats a place. coalesce() will leave 3 entries.")
    assert not any(node["shared"] for node in viz.sparse(u.coalesce()).trace.nodes)


def test_entries_at_one_place_have_one_colour(lib):
    values = cells(viz.sparse(example(lib)), "s")
    assert values[0,]["colour"] == values[3,]["colour"] != values[1,]["colour"]


def test_steps_add_one_entry_after_the_other(lib):
    picture = viz.sparse(example(lib))
    steps, ids = picture.trace.steps, {place: f"v{node['id']}" for place, node in cells(picture, "o").items()}
    places = [(1, 2), (0, 2), (1, 0), (1, 2)]
    assert [step["set"][ids[place]]["text"] for step, place in zip(steps, places)] == ["3", "4", "5", "3.5"]
    assert steps[3]["msg"].endswith("entry number 2 there: the values are added.")


def test_hybrid_tensors_link_each_value_to_its_element(lib):
    h = lib.sparse_coo_tensor([[3, 1]], [[1.0, 2.0], [3.0, 4.0]], (5, 2))
    picture = viz.sparse(h)
    value, dense = cells(picture, "s")[0, 1], cells(picture, "o")
    assert dense[3, 1]["id"] in value["links"] and dense[3, 1]["text"] == "2"
    assert "Hybrid: 1 dimension has indices" in picture.text


def test_a_large_tensor_is_drawn_in_part(lib):
    x = lib.sparse_coo_tensor([list(range(400)), list(range(400))], [1.0] * 400, (100_000, 100_000))
    picture = viz.sparse(x)
    assert len(picture.svg) < 150_000 and "Showing" in picture.text and "strided it would be 37.25 GiB" in picture.text


def test_nothing_at_all(lib):
    assert "0 entries" in viz.sparse(lib.sparse_coo_tensor(size=(2, 3))).text


def test_a_strided_tensor_is_refused(lib):
    with pytest.raises(TypeError, match="to_sparse"):
        viz.sparse(lib.ones(2))


def test_the_kernel_table_tells_layouts_apart():
    rows = viz.dispatch.table("mm", "exp").text
    assert "SparseCPU" in rows and "missing" in rows


def test_a_graph_with_sparse_tensors_can_be_drawn(lib):
    values = lib.tensor([1.0, 2.0], requires_grad=True)
    out = lib.sparse.mm(lib.sparse_coo_tensor([[0, 1], [1, 0]], values, (2, 2)), lib.ones(2, 2))
    assert "SparseAddmm" in viz.graph(out.sum()).text


def test_pictures_of_one_storage_say_that_a_sparse_tensor_has_two(lib):
    for picture in (viz.versions, viz.holders):
        with pytest.raises(TypeError, match="under x._indices"):
            picture(example(lib))
