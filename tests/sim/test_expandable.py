"""Expandable segments on sim: addresses are reserved, and memory comes and goes page by page."""

import os
import subprocess
import sys

import pytest

import teachtorch as torch
from teachtorch.accelerator.memory import _set_allocator_settings
from teachtorch.memory.caching import CachingAllocator, OutOfMemoryError, parse_alloc_conf
from teachtorch.memory.sim.runtime import SimRuntime
from tests.memory import invariants

MIB = 2**20


@pytest.fixture
def allocator():
    """An expandable allocator over a simulated device of its own, of 128 MiB."""
    runtime = SimRuntime(128 * MIB)
    assert runtime.can_map
    return CachingAllocator(runtime, settings=parse_alloc_conf("expandable_segments:True"))


def check(allocator):
    free, total = allocator.runtime.memory_info()
    invariants.check(allocator, total - free)


def stat(allocator, name):
    return allocator.memory_stats()[f"{name}.all.current"]


def test_a_range_grows_page_by_page(allocator):
    first, second = allocator.malloc(15 * MIB), allocator.malloc(15 * MIB)
    assert second.address == first.address + 15 * MIB
    assert (stat(allocator, "reserved_bytes"), stat(allocator, "segment")) == (40 * MIB, 0)
    (segment,) = allocator.segments.values()
    assert segment.size == 160 * MIB  # an eighth more than the device, in whole pages of 20 MiB
    allocator.free(second)
    third = allocator.malloc(50 * MIB)
    assert third.address == first.address + 15 * MIB and stat(allocator, "reserved_bytes") == 80 * MIB
    assert stat(allocator, "inactive_split_bytes") == 0
    check(allocator)


def test_small_requests_have_pages_of_2_mib(allocator):
    blocks = [allocator.malloc(1) for _ in range(2)]
    assert [block.size for block in blocks] == [512, 512]
    assert stat(allocator, "reserved_bytes") == 2 * MIB
    blocks += [allocator.malloc(MIB) for _ in range(2)]
    assert stat(allocator, "reserved_bytes") == 4 * MIB
    assert blocks[3].address == blocks[2].address + MIB
    check(allocator)


def test_a_remainder_of_512_bytes_is_split_off_in_the_large_pool_too(allocator):
    first = allocator.malloc(20 * MIB - 512)
    assert first.size == 20 * MIB - 512 and first.next.size == 512
    check(allocator)


def test_freed_neighbours_serve_a_request_that_ordinary_segments_could_not(allocator):
    """Five times 4 MiB, the last and the first free: 8 MiB begin where the last was and go on in a new page."""
    blocks = [allocator.malloc(4 * MIB) for _ in range(5)]
    assert stat(allocator, "reserved_bytes") == 20 * MIB
    allocator.free(blocks[0])
    allocator.free(blocks[4])
    large = allocator.malloc(8 * MIB)
    assert large.address == blocks[4].address and stat(allocator, "reserved_bytes") == 40 * MIB
    check(allocator)


def test_the_whole_device_can_be_one_block_after_many(allocator):
    """Ordinary segments of 20 MiB with a live block in each could not go back to the device."""
    blocks = [allocator.malloc(10 * MIB - 512) for _ in range(12)]
    for block in blocks:
        allocator.free(block)
    assert allocator.malloc(120 * MIB).size == 120 * MIB
    assert allocator.memory_stats()["num_alloc_retries"] == 0
    check(allocator)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux promises it")
def test_memory_that_is_unmapped_comes_back_zeroed(allocator):
    block = allocator.malloc(20 * MIB)
    allocator.runtime.view(block.address, block.size)[:] = 7
    address = block.address
    kept = allocator.malloc(4 * MIB)
    allocator.runtime.view(kept.address, kept.size)[:] = 9
    allocator.free(block)
    allocator.empty_cache()
    assert stat(allocator, "reserved_bytes") == 20 * MIB
    check(allocator)
    again = allocator.malloc(20 * MIB)
    assert again.address == address and not allocator.runtime.view(address, 20 * MIB).any()
    assert (allocator.runtime.view(kept.address, kept.size) == 9).all()


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="asks Linux how much memory the process has")
def test_the_system_has_the_memory_back(allocator):
    before = resident()
    block = allocator.malloc(100 * MIB)
    allocator.runtime.view(block.address, block.size)[:] = 1
    assert resident() - before > 90 * MIB
    allocator.free(block)
    allocator.empty_cache()
    assert resident() - before < 30 * MIB
    assert not allocator.segments and allocator.runtime.memory_info() == (128 * MIB, 128 * MIB)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_without_room_the_other_streams_pages_are_taken_and_then_it_is_an_error(allocator):
    idle = allocator.malloc(60 * MIB, stream_id=1)
    allocator.free(idle)
    assert allocator.malloc(100 * MIB).size == 100 * MIB
    assert allocator.memory_stats()["num_alloc_retries"] == 1
    with pytest.raises(OutOfMemoryError, match="Tried to allocate 40.00 MiB"):
        allocator.malloc(40 * MIB, stream_id=1)
    check(allocator)
    assert allocator.malloc(512).size == 512


def test_ordinary_segments_and_ranges_share_the_capacity(allocator):
    allocator.malloc(60 * MIB)
    allocator.apply_settings(parse_alloc_conf(""))
    with pytest.raises(OutOfMemoryError):
        allocator.malloc(80 * MIB)
    block = allocator.malloc(50 * MIB)
    assert not block.segment.is_expandable
    check(allocator)


PROGRAM = """
import teachtorch as torch
x = torch.arange(3_000_000, device="sim")
y = torch.ones(10, device="sim")
total = (x * 2).sum().item()
z = x[10:20].reshape(2, 5) + y.view(2, 5)
snapshot = torch.sim._snapshot()
print(total, z.sum().item(), {s["is_expandable"] for s in snapshot["segments"]}, torch.sim.memory_reserved() >> 20)
del x, z
torch.sim.empty_cache()
print(torch.sim.memory_reserved() >> 20)
"""


def test_the_environment_asks_for_it():
    environment = {**os.environ, "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
    out = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert out.stdout.split("\n")[:2] == ["8999997000000 155.0 {True} 62", "2"], out.stderr


def test_tensors_work_over_pages():
    _set_allocator_settings("expandable_segments:True")
    try:
        a = torch.rand(1000, 1000, device="sim")
        b = (a @ a.t()).relu_().cpu()
        assert torch.allclose(b, a.cpu() @ a.cpu().t(), rtol=1e-4)
        with torch.sim.stream(torch.sim.Stream()):
            assert (torch.ones(100, device="sim") * 2).tolist() == [2] * 100
        assert any(s["is_expandable"] for s in torch.sim._snapshot()["segments"])
    finally:
        del a
        _set_allocator_settings("")
        torch.sim.empty_cache()
