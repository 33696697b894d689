"""Lanes of the simulated device: the host launches, streams work later."""
import json

import pytest

import teachtorch as torch
import viz
from teachtorch.profiler import DeviceType, ProfilerActivity, profile, record_function


@pytest.fixture(scope="module")
def prof():
    x = torch.ones(16, 16).to("sim")
    side = torch.sim.Stream()
    with profile(profile_memory=True) as found:
        with record_function("block"):
            y = x @ x
            torch.sim.synchronize()
        with torch.sim.stream(side):
            x + x
        y.sum().item()
    return found


def kernels(prof):
    return [event for event in prof.events() if event.device_type is not DeviceType.CPU]


def test_each_launch_has_its_kernel_later(prof):
    launches = {e.correlation: e for e in prof.events() if e.name in ("simLaunchKernel", "simMemcpyAsync")}
    assert len(launches) == len(kernels(prof)) > 3
    for kernel in kernels(prof):
        assert launches[kernel.correlation].start <= kernel.start <= kernel.end


def test_kernels_of_a_stream_lie_one_after_the_other(prof):
    lanes = {}
    for kernel in kernels(prof):
        lanes.setdefault(kernel.thread, []).append(kernel)
    assert len(lanes) == 2
    for lane in lanes.values():
        for before, after in zip(lane, lane[1:]):
            assert before.end <= after.start


def test_device_time_belongs_to_the_operator_that_launched(prof):
    product = next(e for e in prof.events() if e.name == "aten::mm")
    kernel = next(e for e in kernels(prof) if e.name == "mm")
    assert product.self_device_time_total == pytest.approx(kernel.end - kernel.start)
    assert product.cpu_parent.self_device_time_total == 0
    assert product.cpu_parent.device_time_total == pytest.approx(product.device_time_total)
    assert kernel.cpu_time_total == 0


def test_the_time_of_kernels_is_summed_once(prof):
    total = sum([kernel.end - kernel.start for kernel in kernels(prof)])
    assert prof.key_averages().self_device_time_total == pytest.approx(total)


def test_waits_of_the_host_are_events(prof):
    block = next(e for e in prof.events() if e.name == "block")
    assert "simDeviceSynchronize" in [child.name for child in block.cpu_children]


def test_memory_of_the_device_is_a_column_of_its_own(prof):
    product = next(e for e in prof.events() if e.name == "aten::mm")
    assert product.self_device_memory_usage == 1024 and product.self_cpu_memory_usage == 0
    assert "Self SIM Mem" in prof.key_averages().table() and "Self SIM %" in prof.key_averages().table()


def test_streams_are_lanes_of_a_second_process_with_arrows_from_the_launches(prof, tmp_path):
    prof.export_chrome_trace(tmp_path / "trace.json")
    entries = json.loads((tmp_path / "trace.json").read_text("utf-8"))["traceEvents"]
    device = [e for e in entries if e["ph"] == "X" and e["cat"] in ("kernel", "gpu_memcpy")]
    assert {e["pid"] for e in device} == {0} and len({e["tid"] for e in device}) == 2
    arrows = [e for e in entries if e.get("cat") == "ac2g"]
    assert len(arrows) == 2 * len(device)
    assert {e["pid"] for e in arrows if e["ph"] == "f"} == {0}


def test_the_picture_of_streams_opens_the_trace(prof, tmp_path):
    prof.export_chrome_trace(tmp_path / "trace.json")
    picture = viz.streams(tmp_path / "trace.json")
    assert [lane["label"] for lane in picture.trace.groups][0] == "host"
    assert len([n for n in picture.trace.nodes if n["kind"] in ("kernel", "copy")]) == len(kernels(prof))
    assert "waits for the device" in [node["label"] for node in picture.trace.nodes]
    assert all([row["launched"] <= row["began"] for row in picture.trace.options["rows"]])


def test_the_end_of_the_block_waits_for_the_device():
    with profile() as found:
        torch.sim.sleep(0.01)
        torch.ones(3, device="sim")
    assert len(kernels(found)) == len([e for e in found.events() if e.name.startswith(("simLaunch", "simMemcpy"))])


def test_activities_choose():
    def recorded(*activities):
        with profile(activities=activities) as found:
            torch.ones(3, device="sim") + 1
        return {event.category for event in found.events()}
    assert recorded(ProfilerActivity.CPU) == {"cpu_op"}
    assert recorded(ProfilerActivity.PrivateUse1) == {"privateuse1_runtime", "kernel"}
    assert ProfilerActivity.SIM is ProfilerActivity.PrivateUse1
