"""viz.memory: segments and blocks of a snapshot, and the recorded decisions replayed."""

import pickle

import pytest

import viz
from teachtorch.memory.caching import AllocatorSettings, CachingAllocator, OutOfMemoryError, parse_alloc_conf
from tests.memory.bookkeeping import BookkeepingRuntime
from viz.memory_replay import final_state, first_state
from viz.memory_trace import page_map

MIB = 2**20


def new_allocator(capacity=64 * MIB, conf=None):
    allocator = CachingAllocator(
        BookkeepingRuntime(capacity), settings=parse_alloc_conf(conf) if conf else AllocatorSettings()
    )
    allocator.record_history()
    return allocator


def busy_allocator():
    """Splits, merges, a wait, two streams and an out-of-memory error."""
    allocator = new_allocator()
    blocks = [allocator.malloc(size) for size in (1300, 700 * 1024, 3 * MIB, 5 * MIB, 4 * MIB)]
    allocator.free(blocks[1])
    allocator.free(blocks[3])
    allocator.malloc(2 * MIB + 100)
    waiting = allocator.malloc(12 * MIB + 3000)
    allocator.record_stream(waiting, 1)
    allocator.free(waiting)
    allocator.malloc(4 * MIB, 1)
    with pytest.raises(OutOfMemoryError):
        allocator.malloc(50 * MIB)
    return allocator


def messages(picture):
    return [step["msg"] for step in picture.trace.steps]


def shown(picture, step):
    """Ids that are on after a step, as the player works it out; -1 is the picture without a step."""
    state = {node["id"]: node["final"] for node in picture.trace.nodes if node["row"]}
    for one in picture.trace.steps[: step + 1]:
        state.update({key: change["state"] == "on" for key, change in one["set"].items() if key in state})
    return {key for key, is_on in state.items() if is_on}


def test_blocks_of_every_step_tile_their_segments():
    picture = viz.memory(busy_allocator())
    nodes = {node["id"]: node for node in picture.trace.nodes}
    sizes = {row["id"]: row["size"] for row in picture.trace.groups}
    for step in range(-1, len(picture.trace.steps)):
        for row, size in sizes.items():
            mine = sorted(
                (nodes[key]["at"], nodes[key]["size"])
                for key in shown(picture, step)
                if nodes[key]["row"] == row
            )
            ends = [at + size for at, size in mine]
            assert not mine or ([at for at, _ in mine], ends[-1]) == ([0, *ends[:-1]], size), (step, row)


def test_the_last_step_is_the_snapshot():
    allocator = busy_allocator()
    picture = viz.memory(allocator)
    last = len(picture.trace.steps) - 1
    assert shown(picture, last) == shown(picture, -1)
    stats = allocator.memory_stats()
    for name in ("requested", "allocated", "active", "reserved"):
        assert picture.trace.options["totals"][name] == stats[f"{name}_bytes.all.current"]
        assert picture.trace.options["line"][-1][name] == stats[f"{name}_bytes.all.current"]


def test_the_totals_of_every_step_are_what_the_counters_were():
    allocator, reserved = new_allocator(), []
    for size in (1300, 5 * MIB, 30 * MIB):
        allocator.free(allocator.malloc(size))
        reserved.append(allocator.reserved)
    line = viz.memory(allocator).trace.options["line"]
    assert [point["reserved"] for point in line if point["allocated"] == 0 and point["reserved"]][
        1::2
    ] == reserved


def test_the_decision_is_told():
    told = messages(viz.memory(busy_allocator()))
    assert any(
        "malloc 1 300 B on stream 0: rounded to 1.5 KiB, small pool. Nothing there holds it" in one
        and "a segment of 2 MiB" in one
        for one in told
    )
    assert any(
        "rounded to 2 048.5 KiB, large pool. 2 of 2 free blocks of this stream hold it; "
        "the smallest, 5 MiB, is "
        "taken. Split: 3 MiB stay free (more than 1 MiB)." in one
        for one in told
    )
    assert any("merged with its free right neighbour" in one for one in told)
    assert any("record_stream named another stream" in one for one in told)
    assert told[-1].startswith("Out of memory: 50 MiB in one piece")


def test_a_remainder_of_1_mib_is_not_split():
    allocator = new_allocator()
    allocator.malloc(21 * MIB)
    assert "Not split: the rest, 1 MiB, is not more than 1 MiB" in messages(viz.memory(allocator))[-1]


def test_predict_asks_for_the_block_that_the_allocator_took():
    picture = viz.memory(busy_allocator())
    nodes = {node["id"]: node for node in picture.trace.nodes}
    places = [step["place"] for step in picture.trace.steps if step.get("place")]
    assert places.count("new") == 4 and any(nodes[place]["kind"] == "gap" for place in places)
    for number, step in enumerate(picture.trace.steps):
        if step.get("place") not in (None, "new"):
            assert step["place"] in shown(picture, number - 1)


def test_a_history_that_begins_in_the_middle():
    allocator = busy_allocator()
    allocator.record_history(max_entries=4)
    block = allocator.malloc(300 * 1024)
    allocator.free(block)
    picture = viz.memory(allocator)
    assert shown(picture, len(picture.trace.steps) - 1) == shown(picture, -1)


@pytest.mark.parametrize("steps", [3, 7])
def test_only_the_last_steps_are_shown(steps):
    whole, part = viz.memory(busy_allocator()), viz.memory(busy_allocator(), steps=steps)
    assert messages(part)[1:] == messages(whole)[-len(part.trace.steps) + 1 :]
    assert any("earlier actions came before" in note for note in part.trace.notes)


def test_the_state_before_the_record_is_found_again():
    allocator = new_allocator()
    early = [allocator.malloc(3 * MIB) for _ in range(3)]
    before = allocator.snapshot()["segments"]
    allocator.record_history(clear_history=True)
    allocator.free(early[1])
    allocator.malloc(MIB + 1)
    snapshot = allocator.snapshot()
    first = first_state(snapshot["segments"], snapshot["device_traces"][0])
    assert [row.keys() for row in first.rows] == [row.keys() for row in final_state(before).rows]


def test_expandable_segments_grow():
    allocator = new_allocator(conf="expandable_segments:True")
    allocator.malloc(15 * MIB)
    allocator.free(allocator.malloc(15 * MIB))
    allocator.empty_cache()
    picture = viz.memory(allocator)
    assert any("An expandable segment grows" in one for one in messages(picture))
    assert picture.trace.options["line"][-1]["reserved"] == 20 * MIB
    assert shown(picture, len(picture.trace.steps) - 1) == shown(picture, -1)


def test_the_text_is_a_page_map():
    allocator = new_allocator()
    blocks = [allocator.malloc(5 * MIB) for _ in range(4)]
    allocator.record_stream(blocks[3], 1)
    allocator.free(blocks[1])
    allocator.free(blocks[3])
    row = final_state(allocator.snapshot()["segments"]).rows[0]
    assert page_map(row, 8) == "##..##~~"
    assert page_map(row, 2) == "55"
    assert "[################................################~~~~~~~~~~~~~~~~]" in viz.memory(allocator).text


def test_a_file_of_the_history_is_opened(tmp_path):
    allocator = busy_allocator()
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps(allocator.snapshot(), protocol=4))
    assert viz.memory(path).trace.nodes == viz.memory(str(path)).trace.nodes
    assert len(viz.memory(path).trace.steps) == len(viz.memory(allocator).trace.steps)


def test_a_file_with_anything_but_plain_values_is_refused(tmp_path):
    path = tmp_path / "evil.pickle"
    path.write_bytes(pickle.dumps({"segments": print}))
    with pytest.raises(ValueError, match="holds no builtins.print"):
        viz.memory(path)
    path.write_bytes(b"no pickle")
    with pytest.raises(ValueError):
        viz.memory(path)


def test_what_is_no_snapshot_is_refused():
    with pytest.raises(TypeError, match="takes a snapshot, its file or an allocator, got int"):
        viz.memory(3)
    with pytest.raises(ValueError, match="no 'segments'"):
        viz.memory({})


def test_thousands_of_blocks_collapse(tmp_path):
    allocator = CachingAllocator(BookkeepingRuntime(), settings=AllocatorSettings())
    blocks = [allocator.malloc(512) for _ in range(6000)]
    for block in blocks[::3]:
        allocator.free(block)
    for _ in range(60):
        allocator.malloc(11 * MIB)
    picture = viz.memory(allocator)
    assert len(picture.trace.nodes) < 300 and len(picture.trace.groups) == 24
    assert any("Showing 24 of 62 segments" in note for note in picture.trace.notes)
    assert picture.save(tmp_path / "x.html").stat().st_size < 150_000


def test_a_long_history_fits_a_page(tmp_path):
    allocator = new_allocator(2**40)
    for size in range(1, 400):
        block = allocator.malloc(size * 50_000)
        if size % 3:
            allocator.free(block)
    assert viz.memory(allocator).save(tmp_path / "x.html").stat().st_size < 150_000


def test_the_shape_that_pytorch_writes():
    """A segment and a trace as PyTorch documents them for torch.cuda.memory._snapshot."""
    segment = {
        "device": 0,
        "address": 4096,
        "total_size": 2 * MIB,
        "stream": 0,
        "segment_type": "small",
        "allocated_size": 512,
        "active_size": 512,
        "blocks": [
            {
                "size": 512,
                "requested_size": 4,
                "state": "active_allocated",
                "frames": [{"filename": "/home/me/train.py", "line": 12, "name": "forward"}],
            },
            {"size": 2 * MIB - 512, "requested_size": 0, "state": "inactive"},
        ],
    }
    events = [
        {"action": "segment_alloc", "addr": 4096, "size": 2 * MIB, "stream": 0, "frames": []},
        {"action": "alloc", "addr": 4096, "size": 4, "stream": 0, "frames": []},
    ]
    picture = viz.memory({"segments": [segment], "device_traces": [events]})
    assert len(picture.trace.steps) == 3
    still = viz.memory({"segments": [segment], "device_traces": []})
    assert [node["tip"] for node in still.trace.nodes if node["kind"] == "live"] == [
        "asked for 4 B, got 512 B; allocated at train.py:12 in forward."
    ]


def test_nothing_at_all():
    picture = viz.memory({"segments": [], "device_traces": []})
    assert "(no segments)" in picture.text and picture.svg
