"""viz.loader: when batches of a DataLoader were dealt, fetched and given."""

import warnings

import pytest

import viz
from viz.loader_record import Batch, Run
from viz.loader_trace import loader_trace

FACTS = {"workers": 2, "prefetch": 2, "in_order": True, "size": 4}


def run_of_three():
    """Batch 1 is finished before batch 0, for which the loop waits."""
    run = Run(start=10.0, ready=10.01)
    times = [
        (0, 0, 10.005, 10.02, 10.10, 10.01, 10.11, 10.13),
        (1, 1, 10.006, 10.02, 10.05, 10.13, 10.131, 10.14),
    ]
    times.append((2, 0, 10.11, 10.11, 10.12, 10.14, 10.141, 10.16))
    run.batches = [Batch(*each) for each in times]
    return run


def test_the_moments_of_a_run():
    trace = loader_trace(run_of_three(), FACTS)
    bars = {node["id"]: (node["lane"], node["from"], node["to"]) for node in trace.nodes}
    assert bars["start"] == ("loop", 0.0, 10.0)
    assert bars["f0"] == ("w0", 20.0, 100.0)
    assert bars["f1"] == ("w1", 20.0, 50.0)
    assert bars["a0"] == ("loop", 10.0, 110.0)
    assert bars["r1"] == ("ready0", 50.0, 131.0)
    assert bars["r2"] == ("ready1", 120.0, 141.0)
    assert "r0" not in bars
    assert [(edge["from"], edge["to"]) for edge in trace.edges] == [("f0", "a0")]


def test_the_words_of_a_run():
    trace = loader_trace(run_of_three(), FACTS)
    assert trace.notes[0].startswith(
        "Of 160.0 ms, the loop waited 102.0 ms for its batches (1 of 3 were not ready"
    )
    assert trace.notes[1].endswith("Finished 1 0 2; put back in order: 0 1 2.")
    told = [step["msg"].split(": ", 1)[-1] for step in trace.steps]
    assert told[1] == "the workers are there, and tasks are dealt: 0 to worker 0, 1 to worker 1."
    assert told[2] == "worker 1 has finished batch 1. Nobody has asked for it yet: it is kept."
    assert told[3] == "worker 0 has finished batch 0, which the loop is waiting for."


def test_a_run_out_of_order_says_so():
    trace = loader_trace(run_of_three(), {**FACTS, "in_order": False})
    assert "given as they came (in_order=False)" in trace.notes[1]


def loader_of(lib, items=12, **options):
    options.setdefault("batch_size", 3)
    return lib.utils.data.DataLoader(lib.arange(items), **options)


def test_without_workers_the_loop_fetches(lib):
    trace = viz.loader(loader_of(lib)).trace
    assert [lane["id"] for lane in trace.groups] == ["loop"]
    assert [node["kind"] for node in trace.nodes] == ["fetch", "use"] * 4
    assert trace.edges == []


@pytest.mark.parametrize("options", [{}, {"batch_size": None}, {"shuffle": True}, {"prefetch_factor": 1}])
def test_every_batch_has_a_worker_and_its_moments(lib, options):
    picture = viz.loader(loader_of(lib, 6, num_workers=2, **options))
    rows = picture.trace.options["table"]
    assert [row["task"] for row in rows] == list(range(6 if "batch_size" in options else 2))
    for row in rows:
        assert row["worker"] == row["task"] % 2
        assert row["dealt"] <= row["began"] <= row["ended"] <= row["given"]
        assert row["asked"] <= row["given"]


def test_the_step_gets_what_the_loader_gives(lib):
    seen = []
    viz.loader(loader_of(lib, num_workers=1), seen.append)
    assert [batch.tolist() for batch in seen] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    here = []
    viz.loader(loader_of(lib), here.append, batches=2)
    assert [batch.tolist() for batch in here] == [[0, 1, 2], [3, 4, 5]]


def test_a_long_epoch_is_cut(lib):
    picture = viz.loader(loader_of(lib, 99), batches=5)
    assert "Showing the first 5 batches of the epoch." in picture.trace.notes
    assert len(picture.trace.options["table"]) == 5


def stream_of(lib):
    class Stream(lib.utils.data.IterableDataset):
        def __iter__(self):
            info = lib.utils.data.get_worker_info()
            return iter(range(0 if info is None else info.id, 6, 2))

    return Stream()


def test_a_stream_is_drawn_too(lib):
    loader = lib.utils.data.DataLoader(stream_of(lib), 2, num_workers=2)
    picture = viz.loader(loader)
    assert sorted(row["worker"] for row in picture.trace.options["table"]) == [0, 0, 1, 1]
    is_unseen = any("A stream has no sampler" in note for note in picture.trace.notes)
    assert is_unseen == (lib.__name__ == "torch")
    assert ("?" in picture.text) == is_unseen


def test_samples_of_a_dataset_that_fetches_many_at_once(lib):
    dataset = lib.utils.data.Subset(list(range(10)), [3, 5, 7, 9])
    seen = []
    viz.loader(lib.utils.data.DataLoader(dataset, 2, num_workers=1), seen.append)
    assert [batch.tolist() for batch in seen] == [[3, 5], [7, 9]]


def broken_of(lib):
    class Broken(lib.utils.data.Dataset):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return {0: 1, 1: 2}[index]

    return lib.utils.data.DataLoader(Broken(), num_workers=1)


def test_errors_of_the_dataset_come_through(lib):
    with pytest.raises(KeyError, match="Caught KeyError in DataLoader worker process 0"):
        viz.loader(broken_of(lib))


def test_what_is_no_loader_is_refused(lib):
    with pytest.raises(TypeError, match="viz.loader takes a DataLoader of teachtorch or PyTorch, got list"):
        viz.loader([1, 2])
    with pytest.raises(ValueError, match="at least one batch"):
        viz.loader(loader_of(lib), batches=0)


def test_an_empty_loader(lib):
    picture = viz.loader(lib.utils.data.DataLoader([]))
    assert picture.trace.notes == ["The loader gave no batch."]
    assert picture.text and picture.svg


def test_no_warning_and_nobody_left_watching():
    import teachtorch
    from teachtorch.core import observer

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        viz.loader(loader_of(teachtorch, num_workers=2))
    assert not observer.active
