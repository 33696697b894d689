"""viz.buckets, viz.zero and viz.join: what ranks do and hold; the runs of several ranks are given as facts."""

from xml.etree import ElementTree

import pytest

import teachtorch as torch
import teachtorch.distributed as dist
import viz
from teachtorch import nn
from teachtorch.distributed.algorithms import Join
from teachtorch.distributed.optim import ZeroRedundancyOptimizer
from teachtorch.nn.parallel import DistributedDataParallel
from viz.buckets_trace import buckets_trace
from viz.picture import Picture
from viz.zero_trace import zero_trace


@pytest.fixture
def group():
    dist.init_process_group()
    yield
    dist.destroy_process_group()


def ddp():
    return DistributedDataParallel(
        nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 1)),
        bucket_cap_mb=0.0001,
        find_unused_parameters=True,
    )


def run_on_two_ranks():
    """A pass of two buckets; the second one arrives 2 ms after backward has ended."""
    events = [
        ("start", 1.0, {}),
        ("ready", 1.002, {"parameter": 1, "bucket": 0}),
        ("launch", 1.002, {"bucket": 0}),
        ("sent", 1.002, {"arrival": 1.006}),
        ("ready", 1.008, {"parameter": 0, "bucket": 1}),
        ("launch", 1.008, {"bucket": 1}),
        ("sent", 1.008, {"arrival": 1.012}),
        ("waiting", 1.010, {}),
        ("arrived", 1.010, {"bucket": 0}),
        ("arrived", 1.0125, {"bucket": 1}),
        ("finished", 1.013, {}),
    ]
    return {"names": ["a", "b"], "sizes": [4000, 8000], "buckets": [[1], [0]], "ranks": 2, "events": events}


def two_owners():
    rows = [
        {"name": name, "shape": [n], "numel": n, "owner": owner, "bytes": 8 * n}
        for name, n, owner in (("a", 5, 1), ("b", 3, 0), ("c", 8, 0), ("d", 1, 1), ("e", 4, 1))
    ]
    return {"rows": rows, "ranks": 2, "kind": "Adam"}


def uneven():
    work, shadow, end = (
        {"name": "all_reduce", "nbytes": 4, "phase": phase} for phase in ("work", "shadow", "end")
    )
    return [[work, work, shadow, shadow, end], [work, work, work, work, end]]


def pictures():
    return {
        "buckets": Picture(buckets_trace(run_on_two_ranks())),
        "zero": Picture(zero_trace(two_owners())),
        "join": viz.join(uneven()),
    }


def test_what_is_hidden_is_what_arrives_before_backward_ends():
    trace = buckets_trace(run_on_two_ranks())
    flights = {node["id"]: (node["from"], node["to"]) for node in trace.nodes if node["kind"] == "travels"}
    assert flights == {"f0": (2.0, 6.0), "f1": (8.0, 12.0)}
    assert trace.options["hidden"] == 0.75  # 4 + 2 of 8 ms
    assert [step["ids"][0] for step in trace.steps] == ["b0", "b0", "b1", "backward", "b1"]


def test_buckets_of_a_real_pass(group):
    model = ddp()
    with viz.buckets.watch(model) as seen:
        model(torch.ones(3, 6)).sum().backward()
    trace = seen.picture.trace
    assert [group["label"] for group in trace.groups][:2] == ["bucket 0", "bucket 1"]
    # Registration's last parameters are in the first bucket.
    assert [node["label"] for node in trace.nodes if node["kind"] == "parameter"][-1] == "0.weight"
    assert {node["label"] for node in trace.nodes if node["kind"] == "travels"} == {
        str(n) for n in range(len(model.reducer.buckets))
    }
    assert "2.weight" in viz.buckets(model).text


def test_nothing_travelled(group):
    with viz.buckets.watch(ddp()) as seen:
        pass
    with pytest.raises(RuntimeError, match="run a forward and a backward"):
        _ = seen.picture
    with pytest.raises(TypeError, match="DistributedDataParallel of teachtorch"):
        viz.buckets(nn.Linear(2, 2))


def test_zero_tells_bytes_of_state(group):
    layer = nn.Linear(4, 2)
    optimizer = ZeroRedundancyOptimizer(layer.parameters(), torch.optim.Adam)
    layer(torch.ones(1, 4)).sum().backward()
    optimizer.step()
    trace = viz.zero(optimizer, layer).trace
    # exp_avg and exp_avg_sq in float32, and the 4 bytes of step
    assert trace.options["sums"] == [2 * 4 * (8 + 2) + 2 * 4]
    assert trace.groups[0]["label"] == "weight [2, 4]"


def test_zero_gives_the_largest_first():
    picture = Picture(zero_trace(two_owners()))
    assert picture.trace.options["sums"] == [88, 80]
    assert [step["ids"] for step in picture.trace.steps[1:]] == [
        ["c2r0"],
        ["c0r1"],
        ["c4r1"],
        ["c1r0"],
        ["c3r1"],
    ]
    assert "The ranks have 8, 5: to rank 1" in picture.trace.steps[3]["msg"]


def test_join_of_one_rank_shadows_nobody(group):
    model = ddp()
    with viz.join.watch() as seen, Join([model]):
        model(torch.ones(1, 6)).sum().backward()
    kinds = [node["kind"] for node in seen.picture.trace.nodes]
    assert "work" in kinds and kinds[-1] == "end"
    assert viz.join(seen.ranks).text == seen.picture.text


def test_join_counts_shadows():
    picture = viz.join(uneven())
    assert picture.trace.notes[0].startswith("rank 0 shadows 2")
    assert "rank 0 has no inputs any more" in picture.trace.steps[2]["msg"]
    assert "Showing 2 of 5" in viz.join(uneven(), collectives=2).text


@pytest.mark.parametrize("kind", ["buckets", "zero", "join"])
def test_every_form_is_whole(kind, tmp_path):
    picture = pictures()[kind]
    drawn = {part.get("data-id") for part in ElementTree.fromstring(picture.svg).iter()}
    trace = picture.trace
    assert {item["id"] for item in [*trace.nodes, *trace.edges, *trace.groups]} <= drawn
    assert {id for step in trace.steps for id in (*step["ids"], *step["set"])} <= drawn
    assert max(map(len, picture.text.splitlines())) <= 110
    assert picture.source.startswith("// ")
    for ending in (".html", ".json"):
        path = picture.save(tmp_path / f"x{ending}")
        assert viz.load(path).text == picture.text and path.stat().st_size < 150_000
