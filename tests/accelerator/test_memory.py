"""teachtorch.accelerator.memory on the simulated device, in the words of torch.cuda.memory."""

import pickle

import pytest

import teachtorch
from teachtorch.accelerator import memory

MIB = 2**20


@pytest.fixture(autouse=True)
def clean():
    """Every test starts with an empty cache and fresh peaks."""
    memory.empty_cache()
    memory.reset_peak_memory_stats()
    yield
    memory._record_memory_history(None)
    memory.set_per_process_memory_fraction(1.0)


def test_a_tensor_takes_a_block_and_its_end_gives_it_back():
    before = memory.memory_allocated()
    x = teachtorch.empty(1000, device="sim")
    assert memory.memory_allocated() - before == 4096
    del x
    assert memory.memory_allocated() == before
    assert memory.max_memory_allocated() == before + 4096


def test_the_cache_is_reserved_but_free_until_it_is_emptied():
    x = teachtorch.empty(30 * MIB, dtype=teachtorch.uint8, device="sim")
    reserved, free = memory.memory_reserved(), memory.mem_get_info()[0]
    del x
    assert (memory.memory_reserved(), memory.mem_get_info()[0]) == (reserved, free)
    memory.empty_cache()
    assert reserved - memory.memory_reserved() == 30 * MIB
    assert memory.mem_get_info()[0] - free == 30 * MIB


def test_addresses_for_other_libraries():
    before = memory.memory_allocated()
    address = memory.caching_allocator_alloc(5000)
    assert address % 512 == 0 and memory.memory_allocated() - before == 5120
    memory.caching_allocator_delete(address)
    assert memory.memory_allocated() == before
    with pytest.raises(RuntimeError, match="invalid device pointer"):
        memory.caching_allocator_delete(address)
    with pytest.raises(TypeError, match="Invalid type for stream argument"):
        memory.caching_allocator_alloc(5000, stream="0")
    assert memory.caching_allocator_alloc(0) == 0


def test_out_of_memory_is_an_error_that_one_can_go_on_after():
    before = memory.memory_allocated()
    with pytest.raises(
        teachtorch.OutOfMemoryError, match=r"SIM out of memory\. Tried to allocate 4096\.00 GiB\."
    ):
        teachtorch.empty(2**42, dtype=teachtorch.uint8, device="sim")
    assert issubclass(teachtorch.OutOfMemoryError, RuntimeError)
    assert memory.memory_allocated() == before
    assert teachtorch.ones(3, device="sim").cpu().tolist() == [1.0, 1.0, 1.0]


def test_the_memory_fraction_is_a_cap():
    _, total = memory.mem_get_info()
    memory.set_per_process_memory_fraction((memory.memory_reserved() + 30 * MIB) / total)
    with pytest.raises(teachtorch.OutOfMemoryError, match=r"MiB allowed; Of the allocated"):
        teachtorch.empty(40 * MIB, dtype=teachtorch.uint8, device="sim")
    teachtorch.empty(20 * MIB, dtype=teachtorch.uint8, device="sim")


@pytest.mark.parametrize("fraction, error", [(1, TypeError), (1.5, ValueError), (-0.5, ValueError)])
def test_what_is_no_fraction(fraction, error):
    with pytest.raises(error):
        memory.set_per_process_memory_fraction(fraction)


def test_the_history_names_the_line_that_allocated():
    memory._record_memory_history()
    x = teachtorch.empty(5000, device="sim")
    snapshot = memory._snapshot()
    alloc = [entry for entry in snapshot["device_traces"][0] if entry["action"] == "alloc"][-1]
    assert alloc["size"] == x.nbytes and any(frame["filename"] == __file__ for frame in alloc["frames"])
    blocks = [block for segment in snapshot["segments"] for block in segment["blocks"]]
    mine = [block for block in blocks if block["address"] == alloc["addr"]]
    assert mine[0]["state"] == "active_allocated" and mine[0]["requested_size"] == x.nbytes


def test_a_dumped_snapshot_is_pickle_protocol_4(tmp_path):
    memory._dump_snapshot(tmp_path / "s.pickle")
    data = (tmp_path / "s.pickle").read_bytes()
    assert data[:2] == b"\x80\x04"
    assert set(pickle.loads(data)) >= {"segments", "device_traces"}


def test_names_of_torch_accelerator():
    assert teachtorch.accelerator.memory_allocated() == memory.memory_allocated()
    assert teachtorch.accelerator.memory_stats()["segment.all.current"] >= 0
