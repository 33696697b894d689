"""Files: Chrome's trace format as viewers want it, stacks for flame graphs, tables."""
import gzip
import json
import os

import pytest

import teachtorch as torch
from teachtorch.profiler import profile, record_function, tensorboard_trace_handler


@pytest.fixture(scope="module")
def prof():
    x = torch.ones(4, 3, requires_grad=True)
    with profile(record_shapes=True, with_stack=True, profile_memory=True, with_flops=True) as found, \
            record_function("block; with a \"name\""):
        (torch.nn.functional.linear(x, torch.ones(2, 3)) * 2).relu().sum().backward()
    return found


@pytest.fixture
def trace(prof, tmp_path):
    prof.export_chrome_trace(tmp_path / "trace.json")
    return json.loads((tmp_path / "trace.json").read_text("utf-8"))


def slices(trace):
    return [entry for entry in trace["traceEvents"] if entry["ph"] == "X"]


def test_the_head_is_what_viewers_read(trace, tmp_path):
    assert trace["schemaVersion"] == 1 and trace["displayTimeUnit"] == "ms"
    assert trace["traceName"] == str(tmp_path / "trace.json")
    assert (trace["record_shapes"], trace["with_stack"], trace["profile_memory"], trace["with_flops"]) == (1, 1, 1, 1)


def test_every_entry_has_the_fields_of_its_phase(trace):
    wanted = {"X": {"name", "cat", "ts", "dur", "pid", "tid", "args"}, "M": {"name", "pid", "tid", "args"},
              "s": {"id", "name", "cat", "ts", "pid", "tid"}, "f": {"id", "name", "cat", "ts", "pid", "tid", "bp"}}
    for entry in trace["traceEvents"]:
        assert wanted[entry["ph"]] <= set(entry)
        assert entry.get("dur", 0) >= 0


def test_times_are_microseconds_of_the_events(prof, trace):
    assert [entry["ts"] for entry in slices(trace)] == [event.start for event in prof.events()]
    for entry, event in zip(slices(trace), prof.events()):
        assert entry["dur"] == pytest.approx(event.cpu_time_total)


def test_slices_of_a_lane_nest(trace):
    """What Perfetto drops are slices that begin within another one and end after it."""
    open_slices = []
    for entry in sorted(slices(trace), key=lambda e: (e["ts"], -e["dur"])):
        begin, end = entry["ts"], entry["ts"] + entry["dur"]
        while open_slices and open_slices[-1] <= begin:
            open_slices.pop()
        assert not open_slices or end <= open_slices[-1] + 1e-3
        open_slices.append(end)


def test_arrows_are_pairs_that_start_and_end_in_slices(trace):
    entries = trace["traceEvents"]
    starts = {e["id"]: e for e in entries if e["ph"] == "s"}
    ends = {e["id"]: e for e in entries if e["ph"] == "f"}
    assert set(starts) == set(ends) and starts
    at = {(e["tid"], e["ts"]): e for e in slices(trace)}
    for number, start in starts.items():
        end = ends[number]
        assert start["ts"] <= end["ts"] and end["bp"] == "e" and start["cat"] == end["cat"] == "fwdbwd"
        made, evaluated = (at[e["tid"], e["ts"]]["args"]["Sequence number"] for e in (start, end))
        assert made == evaluated


def test_arrows_lead_from_an_operator_to_its_node(trace):
    at = {(e["tid"], e["ts"]): e["name"] for e in reversed(slices(trace))}
    arrows = {}
    for entry in trace["traceEvents"]:
        if entry["ph"] in "sf":
            arrows.setdefault(entry["id"], []).append(at[entry["tid"], entry["ts"]])
    evaluate = "autograd::engine::evaluate_function: "
    assert [b.removeprefix(evaluate) for a, b in arrows.values() if a == "aten::mul"] == ["MulBackward0"]
    assert [b.removeprefix(evaluate) for a, b in arrows.values() if a == "aten::sum"] == ["SumBackward0"]


def test_lanes_have_names(trace):
    named = {(e["pid"], e["tid"]) for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in slices(trace)} == named
    assert {e["pid"] for e in slices(trace)} == {os.getpid()}


def test_a_name_that_ends_in_gz_is_compressed(prof, tmp_path):
    prof.export_chrome_trace(str(tmp_path / "trace.json.gz"))
    with gzip.open(tmp_path / "trace.json.gz", "rt") as file:
        assert len(json.load(file)["traceEvents"]) > 10


def test_metadata_goes_into_the_head(tmp_path):
    with profile() as found:
        found.add_metadata("who", "me")
        found.add_metadata_json("sizes", "[1, 2]")
    found.export_chrome_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text("utf-8"))
    assert (trace["who"], trace["sizes"]) == ("me", [1, 2])


def test_stacks_are_lines_of_frames_and_a_number(prof, tmp_path):
    prof.export_stacks(tmp_path / "stacks.txt", "self_cpu_time_total")
    lines = (tmp_path / "stacks.txt").read_text("utf-8").splitlines()
    assert lines
    for line in lines:
        frames, _, value = line.rpartition(" ")
        assert value.isdigit() and " " not in frames
    assert any(["aten::linear" in line.rpartition(" ")[0].rpartition(";")[2] for line in lines])


def test_wrong_stacks_are_refused(prof, tmp_path):
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.export_stacks(tmp_path / "x.txt", "nonsense")
    with profile() as other:
        pass
    with pytest.raises(AssertionError, match="with_stack=True"):
        other.export_stacks(tmp_path / "x.txt")


@pytest.mark.parametrize("use_gzip", [False, True])
def test_the_handler_writes_a_file_for_each_window(tmp_path, use_gzip):
    with profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path / "new"), "me", use_gzip)):
        torch.ones(3)
    (file,) = os.listdir(tmp_path / "new")
    assert file.startswith("me.") and file.endswith(".pt.trace.json" + ".gz" * use_gzip)


# ---- tables ------------------------------------------------------------------------------------------------

def rows(table):
    """The names in the first column."""
    lines = table.splitlines()
    rules = [k for k, line in enumerate(lines) if line.startswith("---")]
    return [line.split("  ")[0].strip() or line.strip().split("  ")[0] for line in lines[rules[1] + 1:rules[2]]]


def test_rows_are_sorted_and_limited(prof):
    averages = prof.key_averages()
    largest = sorted(averages, key=lambda a: a.self_cpu_time_total, reverse=True)[:3]
    table = averages.table(sort_by="self_cpu_time_total", row_limit=3, max_name_column_width=200)
    assert rows(table) == [a.key for a in largest]
    assert "Self CPU time total" in table


def test_columns_are_those_that_were_recorded(prof):
    full = prof.key_averages(group_by_input_shape=True).table()
    for title in ("CPU Mem", "Self CPU Mem", "# of Calls", "Input Shapes", "FLOPs"):
        assert title in full
    with profile() as plain:
        torch.ones(3)
    table = plain.key_averages().table()
    for title in ("Mem", "Input Shapes", "FLOPs", "Source Location", "SIM"):
        assert title not in table


def test_a_table_can_have_a_header_a_unit_and_the_outermost_only(prof):
    table = prof.events().table(header="my header", time_unit="s", top_level_events_only=True)
    assert "my header" in table and "us" not in table.split("Self CPU time total")[1]
    assert len(rows(table)) == sum([event.cpu_parent is None for event in prof.events()])


def test_an_unknown_column_is_an_error(prof):
    with pytest.raises(AttributeError, match="nonsense"):
        prof.key_averages().table(sort_by="nonsense")


def test_no_events_are_no_table():
    with profile() as empty:
        pass
    assert empty.key_averages().table() == "" and str(empty.events()) == ""


def test_older_names_of_device_columns_sort(prof):
    assert prof.key_averages().table(sort_by="self_cuda_time_total") == prof.key_averages().table(
        sort_by="self_device_time_total")
