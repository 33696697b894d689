"""The allocator's texts and files against PyTorch's own: settings strings, memory_summary, _memory_viz."""

import pickle

import pytest

from teachtorch.accelerator.memory_summary import summary
from teachtorch.memory.caching import AllocatorSettings, CachingAllocator, parse_alloc_conf
from tests.memory.bookkeeping import BookkeepingRuntime

torch = pytest.importorskip("torch")
MIB = 2**20


def outcome(parse, text):
    """None, or the type and first sentence of the error."""
    try:
        parse(text)
    except Exception as error:
        return type(error), str(error).split("\n")[0]
    return None


@pytest.fixture
def torch_settings():
    yield torch._C._accelerator_setAllocatorSettings
    torch._C._accelerator_setAllocatorSettings("large_segment_size_mb:20,max_split_size_mb:1000000")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "max_split_size_mb:20",
        "max_split_size_mb:19",
        "max_split_size_mb:25,",
        " max_split_size_mb : 30 ,",
        "garbage_collection_threshold:0",
        "garbage_collection_threshold:0.8",
        "garbage_collection_threshold:1.5",
        "roundup_power2_divisions:3",
        "roundup_power2_divisions:8",
        "roundup_power2_divisions:[3:4]",
        "roundup_power2_divisions:[256:1,512:3]",
        "roundup_power2_divisions:[256:1,512:2,>:4]",
        "roundup_power2_divisions:[256:1,]",
        "roundup_power2_divisions:0",
        "expandable_segments:true",
        "expandable_segments:True",
        "large_segment_size_mb:10",
        "large_segment_size_mb:11",
        "large_segment_size_mb:30",
        "large_segment_size_mb:30,max_split_size_mb:25",
        "max_split_size_mb:25,large_segment_size_mb:30",
        "large_segment_size_mb:12,max_split_size_mb:14",
        "max_non_split_rounding_mb:19",
        "max_non_split_rounding_mb:20",
        "per_process_memory_fraction:0.5",
        "pinned_use_background_threads:True",
    ],
)
def test_settings_are_taken_and_refused_alike(text, torch_settings):
    assert outcome(parse_alloc_conf, text) == outcome(torch_settings, text)


@pytest.mark.parametrize("text", ["foo:1", "foo", "per_process_memory_fraction:1.5"])
def test_what_pytorchs_builds_for_cuda_refuse(text):
    """Its builds for the CPU alone do not know the keys of CUDA, and cannot be asked."""
    assert outcome(parse_alloc_conf, text)[0] is ValueError


@pytest.mark.parametrize("text", ["max_split_size_mb:x", "garbage_collection_threshold:x"])
def test_what_is_no_number_is_a_value_error_in_both(text, torch_settings):
    assert outcome(parse_alloc_conf, text)[0] is outcome(torch_settings, text)[0] is ValueError


def some_history():
    """An allocator after a few requests, with its history."""
    allocator = CachingAllocator(BookkeepingRuntime(), settings=AllocatorSettings())
    allocator.record_history()
    blocks = [
        allocator.malloc(size, stream) for size in (3, 700, 3 * MIB, 5 * MIB, 40 * MIB) for stream in (0, 1)
    ]
    allocator.record_stream(blocks[4], 1)
    for block in blocks[::2]:
        allocator.free(block)
    return allocator


@pytest.mark.parametrize("abbreviated", [False, True])
def test_memory_summary_is_pytorchs_table(abbreviated, monkeypatch):
    stats = some_history().memory_stats()
    monkeypatch.setattr(torch.cuda.memory, "memory_stats", lambda device=None: stats)
    assert summary(stats, 0, abbreviated) == torch.cuda.memory.memory_summary(0, abbreviated)


def test_pytorchs_viewer_opens_a_dumped_snapshot(tmp_path):
    from torch.cuda import _memory_viz

    allocator = some_history()
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps(allocator.snapshot(), protocol=4))
    data = pickle.loads(path.read_bytes())
    segments = _memory_viz.segsum(data)
    assert f"segments: {len(allocator.segments)}" in segments
    assert f"total_reserved: {allocator.reserved / MIB:.1f}MiB" in segments
    trace = _memory_viz.trace(data)
    assert trace.count("cudaMalloc(") == len(allocator.segments) and trace.count("# free completed") == 4
    assert "<script" in _memory_viz.trace_plot(data) and "<script" in _memory_viz.segment_plot(data)


def test_pytorchs_flame_graph_text_of_segments_and_memory():
    from torch.cuda import _memory_viz

    allocator = some_history()
    snapshot = allocator.snapshot()
    assert total(_memory_viz.segments(snapshot, str)) == allocator.reserved
    active = sum(
        block.size for segment in allocator.segments.values() for block in segment.blocks() if block.is_active
    )
    told = _memory_viz.memory(snapshot, str)
    assert total("\n".join(line for line in told.splitlines() if "inactive" not in line)) == active


def total(flame):
    """The sum of the last numbers of the lines."""
    return sum(int(line.rsplit(" ", 1)[1]) for line in flame.splitlines() if line)
