"""viz.streams: what a program does on sim, and what a profiler's file of PyTorch says."""

import json
from xml.etree import ElementTree

import pytest

import teachtorch as torch
import viz
from teachtorch import sim


@pytest.fixture(autouse=True)
def sim_at_rest():
    yield
    sim.stop()


def watched(is_ordered=True):
    x, side = torch.ones(64, device="sim"), sim.Stream()
    with viz.streams.watch() as seen:
        y = x.mul_(2)
        if is_ordered:
            side.wait_stream(sim.current_stream())
        with sim.stream(side):
            z = y + 1
            z.sum().item()
    return seen.picture


def of_kind(items, kind):
    return [item for item in items if item["kind"] == kind]


def test_lanes_bars_and_order():
    trace = watched().trace
    assert [lane["label"] for lane in trace.groups][:2] == ["host", "default stream"] and len(
        trace.groups
    ) == 3
    assert [bar["label"] for bar in of_kind(trace.nodes, "launch")] == [
        "mul_",
        "add",
        "sum",
        "memcpy DtoH (pageable)",
    ]
    kernels = {bar["label"]: bar for bar in trace.nodes if bar["id"].startswith("k")}
    assert kernels["mul_"]["lane"] == "s0" and kernels["add"]["lane"] != "s0"
    assert kernels["mul_"]["to"] <= kernels["add"]["from"]
    (order,) = of_kind(trace.edges, "order")
    assert (order["from"], order["to"]) == ("k0", "k1")
    assert not of_kind(trace.edges, "race")
    (wait,) = of_kind(trace.nodes, "wait")
    assert wait["to"] >= kernels["memcpy DtoH (pageable)"]["to"]


def test_race_is_drawn_and_told():
    picture = watched(is_ordered=False)
    (race,) = of_kind(picture.trace.edges, "race")
    assert (race["from"], race["to"], race["label"]) == ("k0", "k1", "read after write")
    assert "RACE (read after write)" in picture.text and "race-line" in picture.svg
    told = [note.split(" ")[0] for note in picture.trace.notes]
    assert told[1:2] + told[-1:] == ["Race", "Missing:"] and len(told) == 5, "a line for each of the sanitizer's"
    assert "wait_stream" in picture.trace.notes[-1]


@pytest.mark.parametrize("is_ordered", [True, False])
def test_all_is_drawn_and_every_step_speaks_of_it(is_ordered, tmp_path):
    picture = watched(is_ordered)
    drawn = {part.get("data-id") for part in ElementTree.fromstring(picture.svg).iter()}
    trace = picture.trace
    assert {item["id"] for item in [*trace.nodes, *trace.edges, *trace.groups]} <= drawn
    for step in trace.steps:
        assert set(step["ids"]) | set(step["set"]) <= drawn
    assert viz.load(picture.save(tmp_path / "x.html")).trace == trace
    assert "cluster_host" in picture.source


def test_many_launches_are_cut_and_counted():
    x = torch.ones(4, device="sim")
    with viz.streams.watch(launches=5) as seen:
        for _ in range(12):
            x.add_(1)
    trace = seen.picture.trace
    assert len(of_kind(trace.nodes, "launch")) == 5
    assert any("Showing 5 of 12 launches" in note for note in trace.notes)


def test_nothing_launched():
    with viz.streams.watch() as seen:
        pass
    assert "Nothing was launched." in seen.picture.text


def test_profilers_file_of_pytorch(tmp_path):
    """The fields are those of torch.profiler's export_chrome_trace with ProfilerActivity.CUDA."""

    def event(cat, name, ts, dur, **args):
        return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, "pid": 0, "tid": 0, "args": args}

    events = [
        event("cpu_op", "aten::mm", 90, 30),
        event("cuda_runtime", "cudaLaunchKernel", 100, 8, correlation=1),
        event("kernel", "gemm", 150, 400, correlation=1, stream=7),
        event("cuda_runtime", "cudaMemcpyAsync", 110, 9, correlation=2),
        event("gpu_memcpy", "Memcpy DtoH", 560, 40, correlation=2, stream=20),
        event("cuda_runtime", "cudaStreamSynchronize", 120, 500),
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    trace = viz.streams(path).trace
    assert [lane["label"] for lane in trace.groups] == ["host", "default stream", "stream 1"]
    assert [(bar["label"], bar["from"], bar["to"]) for bar in of_kind(trace.nodes, "kernel")] == [
        ("gemm", 0.05, 0.45)
    ]
    assert of_kind(trace.nodes, "copy")[0]["lane"] == "s1"
    path.write_text(json.dumps({"traceEvents": events[:2]}))
    with pytest.raises(ValueError, match="no kernels"):
        viz.streams(path)


def race_words(count):
    """How often a picture of so many racing streams names a race beside its line, and the picture's SVG."""
    streams = [sim.Stream() for _ in range(count)]
    with viz.streams.watch() as seen:
        x = torch.zeros(4, device="sim")
        for stream in streams:
            with sim.stream(stream):
                x * 2
        sim.synchronize()
    root = ElementTree.fromstring(seen.picture.svg)
    words = [part for part in root.iter() if part.get("class") == "race-word small"]
    assert len(of_kind(seen.picture.trace.edges, "race")) == count
    assert all(float(word.get("x")) < float(root.get("width")) - 90 for word in words), "none is cut at the edge"
    return len(words)


def test_a_crowd_of_races_is_named_at_their_lines_only():
    assert race_words(3) == 3
    assert race_words(12) == 0
