"""DataLoader with worker processes: order, seeds, errors, deaths, and that nothing is left behind."""
import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import teachtorch as torch
from teachtorch.utils.data import (DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info)
from teachtorch.utils.data import transport
from teachtorch.utils.data.worker import Failure

ROOT = Path(__file__).resolve().parents[2]
HAS_FORK = "fork" in multiprocessing.get_all_start_methods()
needs_fork = pytest.mark.skipif(not HAS_FORK, reason="the dataset of this test is inherited by fork")
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create", "ignore:This process .* is multi-thread")


class Numbers(Dataset):
    """0 to 11 through `function`, which a test may choose."""

    def __init__(self, function=float, n=12):
        self.function, self.n = function, n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.function(i)


class Stream(IterableDataset):
    """0 to 6; `sharded`: each worker its own part of them."""

    def __init__(self, sharded=False):
        self.sharded = sharded

    def __iter__(self):
        info = get_worker_info()
        return iter(range(info.id, 7, info.num_workers) if self.sharded else range(7))


def flat(loader):
    return [x for batch in loader for x in batch.tolist()]


def pids(iterator):
    return [worker.process.pid for worker in iterator._workers]


def all_ended(iterator):
    return all(worker.process.exitcode is not None for worker in iterator._workers)


@pytest.fixture(autouse=True)
def nothing_is_left_behind(request):
    """No process and no open file. (Python's own helpers for the other start methods stay: they are its servers.)"""
    descriptors = open_descriptors()
    yield
    gc.collect()                            # of tracebacks that pytest.raises has kept
    assert multiprocessing.active_children() == []
    assert open_descriptors() <= descriptors or "start_processes" in request.node.name


def open_descriptors():
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


# ---- order --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("prefetch", [1, 2, 9])
def test_batches_come_in_the_samplers_order(workers, prefetch):
    assert flat(DataLoader(Numbers(), 2, num_workers=workers, prefetch_factor=prefetch)) == list(range(12))


@needs_fork
def test_an_early_batch_waits_for_its_turn():
    second_is_ready = multiprocessing.Event()

    def first_waits(i):
        second_is_ready.wait() if i == 0 else second_is_ready.set()
        return i
    assert flat(DataLoader(Numbers(first_waits, 2), num_workers=2)) == [0, 1]


@needs_fork
def test_out_of_order_an_early_batch_does_not_wait():
    go = multiprocessing.Event()

    def first_waits(i):
        return i if i or go.wait() else None
    iterator = iter(DataLoader(Numbers(first_waits, 2), num_workers=2, in_order=False))
    assert next(iterator).item() == 1
    go.set()
    assert flat(iterator) == [0]


def test_out_of_order_nothing_is_lost():
    loader = DataLoader(Numbers(), 2, num_workers=3, in_order=False)
    assert sorted(flat(loader)) == list(range(12))


def test_shuffled_batches_are_those_of_one_process():
    found = []
    for workers in (0, 2):
        torch.manual_seed(4)
        found.append((flat(DataLoader(Numbers(), 5, shuffle=True, num_workers=workers)), torch.rand(1).item()))
    assert found[0] == found[1]


@needs_fork
def test_no_more_than_the_prefetched_tasks_are_issued():
    drawn = []

    def noting():
        for i in range(12):
            drawn.append(i)
            yield i
    iterator = iter(DataLoader(Numbers(), None, sampler=noting(), num_workers=2, prefetch_factor=3))
    assert len(drawn) == 6
    next(iterator)
    assert len(drawn) == 7


def test_samples_of_every_kind_arrive():
    samples = [(torch.ones(2, dtype=torch.bfloat16), "a", {"x": 1, "y": np.float32(2)}, b"z", None)] * 2
    loader = DataLoader(samples, None, num_workers=1)
    tensor, text, mapping, data, nothing = next(iter(loader))
    assert tensor.dtype is torch.bfloat16 and tensor.tolist() == [1, 1] and (text, data, nothing) == ("a", b"z", None)
    assert mapping["x"] == 1 and isinstance(mapping["y"], torch.Tensor)


@pytest.mark.parametrize("length", [1, 100, 100_000])
def test_tensors_of_any_size_arrive_and_can_be_written(length):
    data = torch.arange(3 * length).view(3, length)
    for i, (row,) in enumerate(DataLoader(TensorDataset(data), num_workers=2)):
        assert torch.equal(row, data[i:i + 1])
        row.zero_()
    assert data[-1, -1] == 3 * length - 1


# ---- streams ------------------------------------------------------------------------------------------------------

def test_each_worker_iterates_the_whole_stream_unless_it_is_sharded():
    assert sorted(flat(DataLoader(Stream(), 2, num_workers=2))) == sorted([*range(7)] * 2)
    assert sorted(flat(DataLoader(Stream(sharded=True), 2, num_workers=2))) == list(range(7))


def test_the_end_of_one_workers_stream_does_not_end_the_others():
    assert len(flat(DataLoader(Stream(sharded=True), 1, num_workers=3, prefetch_factor=1))) == 7


def test_a_stream_starts_again_with_persistent_workers():
    loader = DataLoader(Stream(sharded=True), 2, num_workers=2, persistent_workers=True)
    assert flat(loader) == flat(loader)


# ---- seeds and workers --------------------------------------------------------------------------------------------

def draws(i):
    return torch.tensor([get_worker_info().seed % 2**31, random.random(), torch.rand(1).item(), np.random.rand()],
                        dtype=torch.float64)


def test_workers_have_seeds_of_their_own_that_the_loaders_seed_decides():
    def epoch():
        torch.manual_seed(0)
        return [row.tolist() for row in DataLoader(Numbers(draws, 4), None, num_workers=2)]
    first = epoch()
    assert first == epoch()
    assert first[1][0] == first[0][0] + 1 or first[1][0] == 0
    assert all(len(set(column)) == 4 for column in list(zip(*first))[1:])


def test_a_new_epoch_has_new_seeds():
    loader = DataLoader(Numbers(draws, 2), None, num_workers=2)
    assert [r.tolist() for r in loader] != [r.tolist() for r in loader]


def told(i):
    info = get_worker_info()
    return info.id, info.num_workers, info.dataset.marked, torch.get_num_threads(), os.getpid()


class Marked(Numbers):
    marked = -1


def mark(worker_id):
    get_worker_info().dataset.marked = worker_id * 10


def test_a_worker_knows_itself_and_has_a_dataset_of_its_own():
    dataset = Marked(told, 4)
    samples = list(DataLoader(dataset, None, num_workers=2, worker_init_fn=mark))
    assert [s[:4] for s in samples] == [[0, 2, 0, 1], [1, 2, 10, 1]] * 2
    assert dataset.marked == -1 and get_worker_info() is None and os.getpid() not in {s[4] for s in samples}


@needs_fork
def test_persistent_workers_stay_and_go_on_with_their_numbers():
    dataset = Numbers(lambda i: (os.getpid(), torch.initial_seed(), torch.rand(1).item()), 2)
    loader = DataLoader(dataset, None, num_workers=2, persistent_workers=True)
    first, second = list(loader), list(loader)
    assert [a[:2] for a in first] == [a[:2] for a in second] and [a[2] for a in first] != [a[2] for a in second]


def test_an_epoch_that_was_left_does_not_leak_into_the_next():
    loader = DataLoader(Numbers(), 2, num_workers=2, persistent_workers=True, prefetch_factor=3)
    next(iter(loader))
    assert flat(loader) == list(range(12))


@pytest.mark.parametrize("method", [m for m in multiprocessing.get_all_start_methods() if m != "fork"])
def test_other_ways_to_start_processes(method):
    found = DataLoader(TensorDataset(torch.arange(6)), 2, num_workers=1, multiprocessing_context=method)
    assert [batch[0].tolist() for batch in found] == [[0, 1], [2, 3], [4, 5]]
    assert multiprocessing.active_children() == []


@needs_fork
def test_workers_start_while_threads_of_the_parent_run_compiled_loops():
    torch.ones(1 << 20).exp()
    loader = DataLoader(Numbers(lambda i: torch.ones(1 << 20).exp().sum().item(), 2), num_workers=2)
    assert len(flat(loader)) == 2


# ---- errors -------------------------------------------------------------------------------------------------------

class TwoArguments(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


def fails(error):
    def function(i):
        if i == 3:
            raise error
        return i
    return function


@needs_fork
@pytest.mark.parametrize("error, kind", [(ValueError("no 3"), ValueError), (KeyError("no 3"), KeyError),
                                         (TwoArguments("no 3", 2), RuntimeError)])
def test_an_error_is_raised_when_its_batch_is_reached_with_the_workers_traceback(error, kind):
    iterator = iter(DataLoader(Numbers(fails(error)), num_workers=2))
    assert [next(iterator).item() for _ in range(3)] == [0, 1, 2]
    with pytest.raises(kind) as caught:
        next(iterator)
    text = str(caught.value)
    assert text.startswith(f"Caught {type(error).__name__} in DataLoader worker process 1.\nOriginal Traceback")
    assert "in function\n    raise error" in text and "no 3" in text
    assert flat(iterator) == list(range(4, 12))


@needs_fork
def test_an_error_of_worker_init_fn_is_raised():
    def init(worker_id):
        raise ValueError("not set up")
    with pytest.raises(ValueError, match="(?s)Caught ValueError in DataLoader worker process 0.*not set up"):
        list(DataLoader(Numbers(), num_workers=2, worker_init_fn=init))


@needs_fork
def test_what_cannot_be_sent_is_an_error_and_not_a_hang():
    with pytest.raises(Exception, match="Caught .* in DataLoader worker process 0"):
        list(DataLoader(Numbers(lambda i: lambda: i), None, num_workers=1))
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        list(DataLoader(Numbers(lambda i: torch.ones(1, requires_grad=True) * 2), None, num_workers=1))


@needs_fork
def test_a_worker_that_takes_too_long_is_an_error():
    go = multiprocessing.Event()
    iterator = iter(DataLoader(Numbers(lambda i: go.wait()), num_workers=1, timeout=0.05))
    with pytest.raises(RuntimeError, match="DataLoader timed out after 0.05 seconds"):
        next(iterator)
    go.set()


def end_by(how):
    def function(i):
        if i == 4:
            how()
        return torch.ones(50_000)
    return function


@needs_fork
@pytest.mark.parametrize("how, told", [(lambda: os.kill(os.getpid(), signal.SIGKILL), r" \(killed by SIGKILL\)"),
                                       (lambda: os._exit(3), ""), (lambda: sys.exit(3), "")])
def test_a_worker_that_dies_is_reported(how, told):
    iterator = iter(DataLoader(Numbers(end_by(how)), 2, num_workers=2))
    expected = pids(iterator)[0]
    with pytest.raises(RuntimeError, match=rf"DataLoader worker \(pid\(s\) {expected}\) exited unexpectedly{told}$"):
        list(iterator)
    assert all_ended(iterator)


@needs_fork
def test_a_worker_that_is_killed_between_batches_is_reported_and_replaced_for_the_next_epoch():
    loader = DataLoader(Numbers(), 1, num_workers=2, persistent_workers=True, prefetch_factor=1)
    iterator = iter(loader)
    next(iterator)
    os.kill(pids(iterator)[1], signal.SIGKILL)
    iterator._workers[1].process.join()
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(iterator)
    assert flat(loader) == list(range(12))


# ---- ends ---------------------------------------------------------------------------------------------------------

def test_workers_end_with_the_epoch():
    iterator = iter(DataLoader(Numbers(), 2, num_workers=2))
    list(iterator)
    assert all_ended(iterator)


def test_workers_end_when_the_loop_is_left():
    iterator = iter(DataLoader(TensorDataset(torch.zeros(100, 50_000)), 2, num_workers=2, prefetch_factor=8))
    next(iterator)
    processes = [worker.process for worker in iterator._workers]
    del iterator
    assert all(process.exitcode == 0 for process in processes)


@needs_fork
def test_two_loaders_at_once_do_not_hold_each_other():
    inner = DataLoader(Numbers(n=2), num_workers=1)
    pairs = [(a.item(), b.item()) for a in DataLoader(Numbers(n=3), num_workers=1) for b in inner]
    assert pairs == [(a, b) for a in range(3) for b in range(2)]


def run_script(text, **options):
    head = ("import multiprocessing, os, signal, threading\nimport teachtorch as torch\n"
            "from teachtorch.utils.data import DataLoader\n")
    code = head + textwrap.dedent(text)
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, **options)


@needs_fork
def test_an_interrupt_ends_the_workers_and_is_raised():
    script = run_script("""
        class Waits:
            def __len__(self): return 4
            def __getitem__(self, i):
                if i == 0: os.kill(os.getppid(), signal.SIGINT)
                threading.Event().wait(60)
        try:
            list(DataLoader(Waits(), num_workers=2))
        except KeyboardInterrupt:
            print("interrupted", multiprocessing.active_children())
    """)
    out, errors = script.communicate(timeout=60)
    assert (out, errors) == ("interrupted []\n", "")


@needs_fork
@pytest.mark.skipif(not os.path.isdir("/proc"), reason="needs /proc")
def test_workers_of_a_killed_parent_end_too():
    script = run_script("""
        class Waits:
            def __len__(self): return 4
            def __getitem__(self, i): threading.Event().wait(60)
        iterator = iter(DataLoader(Waits(), num_workers=2))
        print(*[w.process.pid for w in iterator._workers], flush=True)
        threading.Event().wait(60)
    """)
    workers = script.stdout.readline().split()
    script.kill()
    script.stdout.read()                    # ends when nobody holds the other end any more: the workers are gone
    script.communicate()
    assert len(workers) == 2


@needs_fork
def test_a_script_may_end_in_the_middle_of_an_epoch():
    script = run_script("""
        loader = DataLoader(torch.arange(1000), num_workers=2, persistent_workers=True)
        print(next(iter(loader)).item())
    """)
    assert script.communicate(timeout=60) == ("0\n", "") and script.returncode == 0


# ---- the way of one message -----------------------------------------------------------------------------------------

def sent(obj):
    ours, theirs = multiprocessing.Pipe()
    with ours, theirs:
        transport.send(theirs, "head", transport.packed(obj))
        head, package = transport.receive(ours)
        return transport.unpacked(package)


def test_a_view_does_not_bring_its_storage():
    found = sent(torch.zeros(1000)[:2])
    assert found.untyped_storage().nbytes() == 8 and found.tolist() == [0, 0]


@pytest.mark.parametrize("length", [3, 30_000])
def test_tensors_that_share_memory_share_it_on_arrival(length):
    x = torch.zeros(length)
    a, b = sent([x, x])
    a += 1
    assert b[0] == 1 and x[0] == 0


def test_expanded_tensors_stay_small():
    found = sent(torch.ones(1, 1).expand(1000, 1000))
    assert found.stride() == (0, 0) and found.untyped_storage().nbytes() == 4


@pytest.mark.skipif(not transport.HAS_ANONYMOUS_FILES, reason="needs memfd_create")
def test_a_large_message_does_not_wait_for_its_reader():
    ours, theirs = multiprocessing.Pipe()
    with ours, theirs:
        transport.send(theirs, 0, transport.packed(torch.ones(10_000_000)))
        assert transport.unpacked(transport.receive(ours)[1]).sum() == 10_000_000


def test_a_failure_keeps_its_cause():
    try:
        try:
            raise OSError("inner")
        except OSError as inner:
            raise ValueError("outer") from inner
    except ValueError as error:
        failure = Failure(error, 7)
    with pytest.raises(ValueError, match="(?s)worker process 7.*inner.*outer"):
        failure.reraise()


# ---- arguments ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("options, error", [
    (dict(num_workers=1, prefetch_factor=-1), ValueError), (dict(prefetch_factor=2), ValueError),
    (dict(num_workers=1, prefetch_factor=0), ValueError), (dict(persistent_workers=True), ValueError),
    (dict(multiprocessing_context="spawn"), ValueError), (dict(num_workers=1, timeout=-1), ValueError),
    (dict(num_workers=1, multiprocessing_context="no"), ValueError),
    (dict(num_workers=1, multiprocessing_context=3), TypeError)])
def test_arguments_that_do_not_fit_are_refused(options, error):
    with pytest.raises(error):
        DataLoader(Numbers(), **options)


def test_more_workers_than_cores_are_warned_about():
    with pytest.warns(UserWarning, match="This DataLoader will create 1000 worker processes"):
        DataLoader(Numbers(), num_workers=1000)


def test_batches_come_in_pinned_memory():
    assert all(batch.is_pinned() for batch in DataLoader(Numbers(), 4, pin_memory=True))
    assert flat(DataLoader(Numbers(), 4, pin_memory=True)) == list(range(12))
