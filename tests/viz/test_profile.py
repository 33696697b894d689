"""viz.profile: what the lanes, the flame graph and the table of a profile say."""

from types import SimpleNamespace

import pytest

import teachtorch
import viz


def event(name, start, end, thread=1, device="DeviceType.CPU", is_block=False):
    return SimpleNamespace(name=name, time_range=SimpleNamespace(start=start, end=end), thread=thread, device_type=device,
                           cpu_children=[], cpu_parent=None, is_user_annotation=is_block)


def nested(parent, *children):
    for child in children:
        parent.cpu_children.append(child)
        child.cpu_parent = parent
    return [parent, *children]


def parts(trace, part):
    return {node["label"]: node for node in trace.nodes if node["part"] == part}


def small():
    """A block of 10 ms with two products of 3 and 2 ms, one product of 4 ms outside, a kernel of 5 ms."""
    inside = nested(event("block", 0, 10_000, is_block=True), event("aten::mm", 1000, 4000), event("aten::mm", 5000, 7000))
    return [*inside, event("aten::mm", 12_000, 16_000), event("mm", 13_000, 18_000, thread=0, device="DeviceType.CUDA")]


def test_frames_are_added_up_by_path():
    frames = [node for node in viz.profile(small()).trace.nodes if node["part"] == "frame"]
    assert [(f["label"], f["depth"], f["count"], f["from"], f["to"]) for f in frames] == [
        ("block", 0, 1, 0, 10), ("aten::mm", 1, 2, 0, 5), ("aten::mm", 0, 1, 10, 14)]


def test_rows_are_self_times_by_name():
    rows = viz.profile(small()).trace.options["rows"]
    assert [(r["name"], r["count"], r["self"], r["total"], r["share"]) for r in rows] == [
        ("aten::mm", 3, 9, 9, round(9 / 14, 4)), ("block", 1, 5, 10, round(5 / 14, 4)), ("mm", 1, 5, 5, None)]


def test_lanes_are_threads_and_streams():
    trace = viz.profile([*small(), event("aten::add", 100, 200, thread=2)]).trace
    assert [lane["label"] for lane in trace.groups] == ["host", "thread 2", "stream 0"]
    assert parts(trace, "slice")["mm"]["lane"] == "stream0"
    assert (trace.options["end"], trace.options["host"]) == (18, 14.1)


def test_a_name_within_itself_counts_once():
    outer, inner = event("aten::add", 0, 1000), event("aten::add", 200, 600)
    (row,) = viz.profile(nested(outer, inner)).trace.options["rows"]
    assert (row["total"], row["self"], row["count"]) == (1, 1, 2)


def test_big_profiles_say_what_they_leave_out():
    events = [event(f"op{k}", k * 10, k * 10 + 5) for k in range(300)]
    picture = viz.profile(events, frames=20, rows=5, slices=30)
    assert "shows 30 of 300 slices" in picture.text and "shows 20 of 300 frames" in picture.text
    assert "295 more names" in picture.text
    assert len(picture.trace.nodes) == 50


def test_what_is_no_profile_is_refused():
    with pytest.raises(TypeError, match="draws a profile"):
        viz.profile([1, 2])
    with pytest.raises(TypeError, match="draws a profile"):
        viz.profile(3)
    with teachtorch.profiler.profile() as empty:
        pass
    with pytest.raises(ValueError, match="no events"):
        viz.profile(empty)


def test_colours_tell_blocks_nodes_and_operators(lib):
    x = lib.ones(3, requires_grad=True)
    P = lib.profiler
    with P.profile(activities=[P.ProfilerActivity.CPU]) as prof, P.record_function("block"):
        (x * 2).sum().backward()
    frames = parts(viz.profile(prof).trace, "frame")
    assert frames["block"]["kind"] == "block" and frames["aten::mul"]["kind"] == "op"
    assert frames["MulBackward0"]["kind"] == "backward"
    assert frames["autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"]["kind"] == "backward"


def test_the_older_profile_is_drawn(lib):
    with lib.autograd.profiler.profile() as prof:
        lib.ones(3) * 2
    assert "aten::mul" in parts(viz.profile(prof).trace, "frame")


def test_dot_joins_callers_to_callees():
    source = viz.profile(small()).source
    assert source.count("->") == 1 and "2 x, 5.000 ms" in source
