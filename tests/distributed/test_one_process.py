"""What needs no ranks: a group of one without MPI, the rules, and the errors, which are PyTorch's."""

import os
import subprocess
import sys

import pytest

import teachtorch as torch
import teachtorch.distributed as dist
from teachtorch import nn
from teachtorch.distributed import notebook, run
from teachtorch.distributed.optim import zero
from teachtorch.futures import Future, collect_all, wait_all
from teachtorch.nn.parallel import DistributedDataParallel as DDP
from teachtorch.nn.parallel.buckets import (
    BUCKET_CAP,
    FIRST_BUCKET,
    MIB,
    compute_bucket_assignment_by_size,
)

KB = 1024


@pytest.fixture
def group():
    dist.init_process_group("gloo")
    yield dist.group.WORLD
    dist.destroy_process_group()


@pytest.mark.parametrize(
    "sizes, expected",
    [
        ([4 * MIB] * 20, [[0], list(range(1, 8)), list(range(8, 15)), list(range(15, 20))]),
        ([30 * MIB, 1, 1], [[0], [1, 2]]),
        ([MIB // 2, MIB // 2 - 1, 2, 24 * MIB, 2 * MIB], [[0, 1, 2], [3, 4]]),
        ([MIB // 2, MIB // 2, 12 * MIB, 13 * MIB, 1], [[0, 1], [2, 3], [4]]),
    ],
)
def test_buckets_close_when_they_have_reached_their_limit(sizes, expected):
    tensors = [torch.empty(size, dtype=torch.uint8, device="meta") for size in sizes]
    assert compute_bucket_assignment_by_size(tensors, [FIRST_BUCKET, BUCKET_CAP]) == expected


@pytest.mark.parametrize("cap, expected", [(None, [1, 3]), (2, [2, 2])])
def test_the_first_bucket_is_a_small_one_unless_a_size_is_asked_for(group, cap, expected):
    ddp = DDP(nn.Sequential(*[nn.Linear(512, 512, bias=False) for _ in range(4)]), bucket_cap_mb=cap)
    for _ in range(2):              # the second forward makes the buckets anew
        ddp(torch.ones(1, 512)).sum().backward()
    assert [len(bucket.indices) for bucket in ddp.reducer.buckets] == expected      # 1 MiB a parameter


def test_each_dtype_has_buckets_of_its_own():
    tensors = [torch.empty(10, dtype=d) for d in (torch.float32, torch.float64, torch.float32, torch.float64)]
    assert compute_bucket_assignment_by_size(tensors, [1000]) == [[0, 2], [1, 3]]


def test_zero_gives_the_largest_to_who_has_least():
    params = [torch.empty(n) for n in (5, 3, 8, 1, 4)]
    owned = zero.partition([{"params": params}], 2)
    assert [[p.numel() for p in of_rank[0]] for of_rank in owned] == [[8, 3], [5, 4, 1]]
    owned = zero.partition([{"params": params[:1]}, {"params": params[1:]}], 2)
    assert [[[p.numel() for p in params] for params in of_rank] for of_rank in owned] == [
        [[5], [4, 1]],
        [[], [8, 3]],
    ]


def test_one_rank_needs_no_mpi():
    code = (
        "import sys; import teachtorch as t; d = t.distributed; d.init_process_group(); x = t.ones(2); "
        "d.all_reduce(x);"
        "d.barrier(); d.monitored_barrier(); out = [None]; d.all_gather_object(out, 5);"
        "m = t.nn.parallel.DistributedDataParallel(t.nn.Linear(2, 1)); m(x).sum().backward();"
        "assert x.tolist() == [1, 1] and out == [5] and 'mpi4py' not in sys.modules; print('ok')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout == "ok\n", done.stderr


def test_output_goes_to_a_file_of_each_rank(tmp_path):
    code = (
        "import os; from teachtorch.distributed import rank; os.environ['RANK'] = '3'; "
        f"rank.redirect(3, {str(tmp_path)!r}); print('out'); import sys; print('err', file=sys.stderr); "
        "os.system('echo child')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    assert sorted((tmp_path / "3" / "stdout.log").read_text().split()) == ["child", "out"]
    assert (tmp_path / "3" / "stderr.log").read_text() == "err\n"


def test_redirects_want_a_folder():
    with pytest.raises(SystemExit, match="--log-dir"):
        run.redirection(run.parser().parse_args(["--redirects", "1", "script.py"]))


@pytest.mark.parametrize(
    "line, code, error",
    [
        ("2", 0, ""),
        ("2", 1, "the ranks have failed"),
        ("2 fails", 1, ""),
        ("2 fails", 0, "the ranks were expected to fail"),
    ],
)
def test_a_cell_whose_ranks_fail_fails(monkeypatch, capsys, line, code, error):
    def launch(script, count, flags, folder):
        assert (count, flags) == ("2", [])
        (folder / "output" / "1").mkdir(parents=True)
        (folder / "output" / "1" / "stdout.log").write_text("a\nb\n")
        said = (
            "teachtorch.distributed.run: rank 1 (pid 5) failed after 2.0 s; all ended.\nTraceback\n"
            "teachtorch.distributed.run: rank 1, failed.\nValueError: x"
        )
        return subprocess.CompletedProcess([], code, "", said)

    monkeypatch.setattr(notebook, "launch", launch)
    programs = notebook.Programs()
    with programs.temporary:
        check_cell(programs, line, error)
    shown = ["[1] a", "[1] b"] + [
        "teachtorch.distributed.run: rank 1 failed; all ended.",
        "ValueError: x",
    ] * code
    assert capsys.readouterr().out.splitlines() == shown


def check_cell(programs, line, error):
    if error:
        with pytest.raises(RuntimeError, match=error):
            programs.ranks(line, "cell")
    else:
        programs.ranks(line, "cell")


def test_a_missing_mpi4py_is_told_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setenv("PMI_SIZE", "2")
    with pytest.raises(RuntimeError, match=r"pip install 'teachtorch\[distributed\]'"):
        dist.init_process_group()


def test_more_ranks_than_were_started_are_refused():
    with pytest.raises(RuntimeError, match="--nproc-per-node 4"):
        dist.init_process_group("gloo", rank=0, world_size=4)
    assert not dist.is_initialized()


def test_without_a_group():
    for call in (dist.get_rank, dist.get_world_size, dist.barrier, lambda: dist.all_reduce(torch.ones(1))):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            call()
    with pytest.raises(AssertionError, match="Process group cannot be None"):
        dist.destroy_process_group()


@pytest.mark.parametrize(
    "call, error, words",
    [
        (
            lambda: dist.init_process_group(),
            ValueError,
            "trying to initialize the default process group twice!",
        ),
        (lambda: dist.all_reduce([1]), TypeError, "Expected parameter `tensor` of type torch.Tensor"),
        (
            lambda: dist.all_reduce(torch.ones(2), dist.ReduceOp.BAND),
            RuntimeError,
            "Cannot use ReduceOp.BAND with non-integral dtype",
        ),
        (lambda: dist.broadcast(torch.ones(2)), ValueError, "Must specify global_rank or group_rank"),
        (
            lambda: dist.broadcast(torch.ones(2), 0, group_src=0),
            ValueError,
            "Can't specify both group_rank and global_rank",
        ),
        (lambda: dist.broadcast(torch.ones(2), 3), RuntimeError, "invalid root rank: 3"),
        (
            lambda: dist.all_gather([torch.ones(2)], torch.ones(2, dtype=torch.int32)),
            ValueError,
            "Invalid usage of tensors with different dtypes",
        ),
        (lambda: dist.all_gather([torch.ones(3)], torch.ones(2)), RuntimeError, "shape"),
        (
            lambda: dist.all_gather([torch.ones(2)] * 2, torch.ones(2)),
            RuntimeError,
            "expected a list of 1 tensors",
        ),
        (
            lambda: dist.gather(torch.ones(2)),
            ValueError,
            "Argument ``gather_list`` must be specified on destination rank.",
        ),
        (
            lambda: dist.scatter(torch.ones(2)),
            ValueError,
            "Argument ``scatter_list`` must be specified on source rank.",
        ),
        (
            lambda: dist.all_to_all_single(torch.ones(2), torch.ones(2), [1], [1]),
            RuntimeError,
            "Split sizes doesn't match total dim 0 size",
        ),
        (
            lambda: dist.all_to_all_single(torch.ones(2), torch.ones(2), [1, 1], [1, 1]),
            RuntimeError,
            "Number of tensor splits not equal to group size",
        ),
        (
            lambda: dist.send(torch.ones(2), 0),
            ValueError,
            "destination rank should not be the same as the rank of the current process",
        ),
        (lambda: dist.isend(torch.ones(2), 0, tag=-1), RuntimeError, "Tag must be nonnegative"),
        (lambda: dist.irecv(torch.ones(2), 0, tag=-1), RuntimeError, "Tag must be nonnegative"),
        (lambda: dist.new_group([0, 1]), ValueError, "less or equal to the world size"),
        (lambda: dist.new_group([1]), ValueError, "Rank 1 is out of range. Valid ranks are 0 to 0"),
        (lambda: dist.new_subgroups(2), ValueError, "must not exceed the world size"),
        (lambda: dist.P2POp(dist.send, torch.ones(2), 0), ValueError, "Invalid ``op``"),
        (lambda: dist.scatter_object_list([], [3]), ValueError, "to be a list of size at least 1"),
        (lambda: DDP(nn.ReLU()), RuntimeError, "doesn't have any parameter that requires a gradient"),
        (
            lambda: DDP(nn.Linear(2, 2), device_ids=[0]),
            ValueError,
            "device_ids and output_device arguments only work",
        ),
        (
            lambda: DDP(nn.Linear(2, 2)).register_comm_hook(None, 3),
            TypeError,
            "Communication hook must be callable.",
        ),
        (
            lambda: zero.ZeroRedundancyOptimizer([], torch.optim.SGD, lr=1),
            ValueError,
            "got an empty parameter list",
        ),
        (
            lambda: zero.ZeroRedundancyOptimizer(3, torch.optim.SGD, lr=1),
            TypeError,
            "iterable of Tensors or dicts, but got int",
        ),
    ],
)
def test_errors_are_pytorchs(group, call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "hook, words",
    [
        (lambda state, bucket: bucket.buffer(), "must return a torch.futures.Future object, but got Tensor"),
        (lambda state, bucket: None, "must return a torch.futures.Future object, but got NoneType"),
    ],
)
def test_a_communication_hook_returns_a_future(group, hook, words):
    ddp = DDP(nn.Linear(2, 2))
    ddp.register_comm_hook(None, hook)
    with pytest.raises(RuntimeError, match=words):
        ddp(torch.ones(1, 2)).sum().backward()


@pytest.mark.parametrize(
    "backend, error, words",
    [("foo", AssertionError, "Unknown backend type foo"), ("nccl", ValueError, "no GPUs found")],
)
def test_backends_that_are_not_there(backend, error, words):
    with pytest.raises(error, match=words):
        dist.init_process_group(backend)


def test_futures_chain_and_carry_errors():
    first = Future()
    second = first.then(lambda future: future.value() + 1)
    broken = first.then(lambda future: 1 / 0)
    assert not second.done()
    first.set_result(1)
    assert second.wait() == 2 and wait_all([first, second]) == [1, 2] and collect_all([first]).done()
    with pytest.raises(ZeroDivisionError):
        broken.wait()
    with pytest.raises(RuntimeError):
        first.set_result(2)


def test_a_simulated_link_makes_results_arrive_later(group, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(dist.link.time, "perf_counter", lambda: now[0])
    with dist.simulated_link(latency=1.0, bandwidth=10.0) as link:
        assert link.arrival(20) == 103.0
        assert link.arrival(10) == 105.0  # after the one before it
        now[0] = 110.0
        assert link.arrival(0) == 111.0
    assert dist.link.current is None


def test_state_dict_keys_begin_with_module(group):
    ddp = DDP(nn.Linear(2, 1))
    assert list(ddp.state_dict()) == ["module.weight", "module.bias"]
    assert os.environ.get("RANK") is None


def test_sync_batchnorm_of_one_process_is_batchnorm():
    model = nn.Sequential(nn.Conv2d(1, 3, 2), nn.BatchNorm2d(3, eps=0.1, momentum=None).eval())
    made = nn.SyncBatchNorm.convert_sync_batchnorm(model, "group")
    assert made is model and repr(made[1]) == (
        "SyncBatchNorm(3, eps=0.1, momentum=None, affine=True, bias=True, track_running_stats=True)"
    )
    assert made[1].process_group == "group" and not made[1].training
    alone, plain, x = nn.SyncBatchNorm(3), nn.BatchNorm1d(3), torch.randn(4, 3)
    assert torch.equal(alone(x), plain(x)) and torch.equal(alone.running_var, plain.running_var)
    assert nn.SyncBatchNorm.convert_sync_batchnorm(plain).weight is plain.weight


@pytest.mark.parametrize(
    "shape, words",
    [
        ((3,), "expected at least 2D input (got 1D input)"),
        ((2, 0), "number of input channels should be non-zero"),
    ],
)
def test_sync_batchnorm_refuses(shape, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(").replace(")", r"\)")):
        nn.SyncBatchNorm(3)(torch.zeros(shape))
