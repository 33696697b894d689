"""Tensors in shared memory: what moves, what follows, what travels."""

import io
import math
import os
import pickle
import signal
import subprocess
import sys
import warnings
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

import teachtorch as torch
import teachtorch.multiprocessing as mp
from teachtorch.memory import shared

from . import work

METHODS = [m for m in ("fork", "spawn", "forkserver") if m in mp.get_all_start_methods()]


def sent(obj):
    """What another process would get, in this one."""
    file = io.BytesIO()
    ForkingPickler(file, pickle.HIGHEST_PROTOCOL).dump(obj)
    return pickle.loads(file.getvalue())


# ---- moving ------------------------------------------------------------------------------------------------


def test_the_whole_storage_moves_and_everything_over_it_follows(strategy):
    x = torch.arange(6.0)
    view, detached, turned = x[2:4], x.detach(), x.view(2, 3).t()
    assert float(view.sum() + detached.sum() + turned.sum()) == 35  # their arrays are there now
    assert view.share_memory_() is view
    assert x.is_shared() and detached.is_shared() and turned.is_shared()
    x.mul_(2)
    assert view.tolist() == [4, 6] and detached.tolist() == turned.t().reshape(6).tolist() == [
        0,
        2,
        4,
        6,
        8,
        10,
    ]


def test_what_a_graph_saved_follows():
    x = torch.ones(3, requires_grad=True)
    y = (x * x).exp()
    y.detach().share_memory_()
    y.sum().backward()
    assert y.is_shared() and x.grad.tolist() == pytest.approx([2 * math.e] * 3)


def test_data_and_clone(strategy):
    x = torch.ones(2).share_memory_()
    address = x.data_ptr()
    assert x.share_memory_().data_ptr() == address
    assert x.data.is_shared() and x[1:].is_shared() and not x.clone().is_shared()


def test_an_array_taken_before_keeps_the_old_memory():
    x = torch.ones(2)
    array = x.numpy()
    x.share_memory_().zero_()
    assert array.tolist() == [1, 1] and x.numpy().tolist() == [0, 0]


def test_two_tensors_over_a_users_array_do_not_follow_each_other():
    array = np.zeros(4)
    a, b = torch.from_numpy(array), torch.from_numpy(array)
    a.share_memory_().fill_(1)
    assert b.tolist() == [0, 0, 0, 0] and not b.is_shared()


def test_tensors_follow_a_resized_storage():
    x = torch.arange(4)
    view, detached = x[1:3], x.detach()
    assert int(view.sum() + detached.sum()) == 9
    x.untyped_storage().resize_(4096)
    x.mul_(10)
    assert view.tolist() == [10, 20] and detached.tolist() == [0, 10, 20, 30]
    assert view.data_ptr() == x.data_ptr() + 8


def test_tensors_follow_resize_():
    x = torch.arange(4)
    view, detached = x[1:3], x.detach()
    assert int(view.sum() + detached.sum()) == 9
    x.resize_(1000)[:4] = torch.tensor([5, 6, 7, 8])
    assert view.tolist() == [6, 7] and detached.tolist() == [5, 6, 7, 8]


def test_shared_memory_does_not_grow():
    x = torch.ones(3).share_memory_()
    assert x.resize_(2).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="not resizable"):
        x.resize_(100)


def test_a_copy_of_a_shared_tensor_is_on_its_own():
    import copy

    x = torch.ones(2).share_memory_()
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        other.zero_()
        assert not other.is_shared() and x.tolist() == [1, 1]


def test_meta_tensors_have_nothing_to_share():
    with pytest.raises(RuntimeError, match="only available on CPU"):
        torch.empty(3, device="meta").share_memory_()
    there = sent(torch.empty(2, 3, device="meta").t())
    assert there.is_meta and there.shape == (3, 2) and there.stride() == (1, 3)


def test_names(strategy):
    x = torch.ones(2).share_memory_()
    name = x.untyped_storage().filename
    assert (name is None) == (strategy == "file_descriptor")


def test_unknown_strategies_are_refused():
    with pytest.raises(AssertionError, match="invalid sharing strategy 'carrier pigeon'"):
        mp.set_sharing_strategy("carrier pigeon")
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()


# ---- travelling --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "bfloat16", "int8", "uint8", "int16", "int64", "bool"]
)
def test_every_dtype_travels(dtype, strategy):
    x = torch.tensor([0, 1, 1]).to(getattr(torch, dtype))
    there = sent(x)
    assert there.dtype is x.dtype and there.tolist() == x.tolist() and x.is_shared()


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (2, 3)])
def test_every_shape_travels(shape, strategy):
    x = torch.ones(shape)
    there = sent(x)
    assert there.shape == x.shape and there.tolist() == x.tolist()


def test_geometry_and_requires_grad_travel_and_grad_does_not(strategy):
    x = torch.arange(12.0).view(3, 4)
    leaf = x[1:].t().requires_grad_()
    leaf.grad = torch.ones(4, 2)
    there = sent(leaf)
    assert (there.shape, there.stride(), there.storage_offset()) == ((4, 2), (1, 4), 4)
    assert there.requires_grad and there.is_leaf and there.grad is None
    assert there.untyped_storage().nbytes() == 48


def test_the_same_memory_is_mapped_once(strategy):
    x = torch.arange(4.0)
    first, second = sent((x, x[1:]))
    assert first.untyped_storage() is second.untyped_storage() is x.untyped_storage()


def test_a_parameter_stays_one_and_loses_its_attributes():
    p = torch.nn.Parameter(torch.ones(2))
    p.mark, p.grad = 3, torch.ones(2)
    there = sent(p)
    assert type(there) is torch.nn.Parameter and there.requires_grad and not hasattr(there, "mark")
    assert type(sent(torch.nn.Buffer(torch.ones(2)))) is torch.Tensor


def test_a_sparse_tensor_shares_its_parts(strategy):
    x = torch.sparse_coo_tensor([[0, 2], [1, 0]], [3.0, 4.0], (3, 4))
    for t in (x, x.coalesce(), torch.zeros(2, 3).to_sparse(), x.detach().requires_grad_()):
        there = sent(t)
        assert there.is_sparse and there.is_coalesced() == t.is_coalesced() and not there.requires_grad
        assert there.shape == t.shape and there.to_dense().tolist() == t.detach().to_dense().tolist()
    sent(x)._values().fill_(5)
    assert x._values().tolist() == [5, 5] and x._indices().is_shared()


def test_too_many_descriptors_say_what_to_do():
    import resource

    kept, limits = [], resource.getrlimit(resource.RLIMIT_NOFILE)
    mp.set_sharing_strategy("file_descriptor")
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 20, limits[1]))
    try:
        with pytest.raises(OSError, match="Too many open files") as info:
            for _ in range(50):
                kept.append(torch.ones(3).share_memory_())
        assert 5 <= len(kept) and all(t.tolist() == [1, 1, 1] for t in kept)
        assert any("file_system" in note for note in info.value.__notes__)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_history_does_not_travel():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(
        RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"
    ):
        sent(x * 2)
    assert sent((x * 2).detach()).tolist() == [2, 2]
    with torch.no_grad():
        assert sent(x * 2).tolist() == [2, 2]


def test_hooks_stay_at_home_and_say_so():
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda grad: grad)
    with pytest.warns(UserWarning, match="will not be serialized"):
        sent(x)


def test_a_module_travels_as_its_shared_memory():
    layer = torch.nn.Linear(2, 1)
    assert layer.share_memory() is layer
    there = sent(layer)
    with torch.no_grad():
        there.weight.fill_(5)
    assert layer.weight.tolist() == [[5, 5]] and all(p.is_shared() for p in layer.parameters())


# ---- between processes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_child_writes_where_its_parent_reads(method, strategy):
    context = mp.get_context(method)
    ours, theirs = context.Pipe()
    child = context.Process(target=work.fill_from, args=(theirs,))
    child.start()
    x = torch.zeros(2, 3)
    for t in (x, x[:, 1], x.t()[:1], torch.nn.Parameter(torch.zeros(2))):
        ours.send(t)
        kind = type(t).__name__
        told = (tuple(t.shape), t.stride(), t.storage_offset(), t.requires_grad, True, True, kind)
        assert ours.recv() == told
        assert bool((t == 7).all())
    ours.send(None)
    child.join(30)
    assert child.exitcode == 0 and x.tolist() == [[7, 7, 7], [7, 7, 7]]


def test_arguments_of_a_spawned_process_are_shared():
    x = torch.zeros(3)
    child = mp.get_context("spawn").Process(target=work.fill, args=(x[1:], 4))
    child.start()
    child.join(60)
    assert child.exitcode == 0 and x.is_shared() and x.tolist() == [0, 4, 4]


def test_the_receiver_maps_a_storage_once(strategy):
    context = mp.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=work.same_storage, args=(theirs,))
    child.start()
    x = torch.arange(4.0)
    ours.send(x)
    ours.send(x[1:])
    assert ours.recv() is True
    child.join(30)


def test_queues_bring_what_a_child_made(strategy):
    context = mp.get_context("fork")
    queue, done = context.Queue(), context.Event()
    child = context.Process(target=work.put_result, args=(queue, done))
    child.start()
    x = queue.get(timeout=30)
    done.set()
    child.join(30)
    assert x.tolist() == [0, 1, 2, 3] and x.is_shared()
    x.fill_(1)  # still there, without its maker
    assert x.tolist() == [1, 1, 1, 1]
    queue.close()
    queue.join_thread()


def test_a_named_tensor_outlives_its_maker_on_the_way():
    mp.set_sharing_strategy("file_system")
    context = mp.get_context("fork")
    queue, done = context.SimpleQueue(), context.Event()
    done.set()
    child = context.Process(target=work.put_result, args=(queue, done))
    child.start()
    child.join(30)
    assert child.exitcode == 0
    assert queue.get().tolist() == [0, 1, 2, 3]
    queue.close()


def test_pools():
    with mp.get_context("fork").Pool(2) as pool:
        results = pool.map_async(work.double, [torch.ones(2) * k for k in range(4)]).get(timeout=60)
    assert [r.tolist() for r in results] == [[0, 0], [2, 2], [4, 4], [6, 6]]


def test_a_killed_holder_leaves_no_name():
    mp.set_sharing_strategy("file_system")
    context = mp.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=work.hold_until_killed, args=(theirs,))
    child.start()
    x = torch.ones(1000)
    ours.send(x)
    assert ours.recv() == 1000
    name = x.untyped_storage().filename
    os.kill(child.pid, signal.SIGKILL)
    child.join(30)
    assert os.path.exists(shared.path_of(name))
    del x
    assert not os.path.exists(shared.path_of(name))


def test_a_forked_child_holds_a_name_and_lets_go_when_it_ends():
    mp.set_sharing_strategy("file_system")
    context = mp.get_context("fork")
    started, done = context.Event(), context.Event()
    x = torch.ones(3).share_memory_()
    path = shared.path_of(x.untyped_storage().filename)
    child = context.Process(target=work.wait_for, args=(started, done))
    child.start()
    assert started.wait(30)
    del x
    assert os.path.exists(path)
    done.set()
    child.join(30)
    assert not os.path.exists(path)


FAMILY = """
import os, signal
import teachtorch as torch, teachtorch.multiprocessing as mp
mp.set_sharing_strategy("file_system")
x = torch.ones(1000).share_memory_()
print(x.untyped_storage().filename, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_family_leaves_no_name():
    done = subprocess.run(
        [sys.executable, "-c", FAMILY], capture_output=True, text=True, timeout=60, check=False
    )
    name = done.stdout.strip()  # the tracker held stderr open until it had cleaned up
    assert done.returncode == -signal.SIGKILL and name.startswith(shared.PREFIX)
    assert not os.path.exists(shared.path_of(name))


def test_storage_of_a_dtype_can_be_shared():
    x = torch.arange(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        storage = x.storage()
    assert (storage.size(), storage.tolist(), storage[1]) == (3, [0, 1, 2], 1)
    assert storage.share_memory_() is storage and x.is_shared() and storage.is_shared()


def test_the_standard_module_is_all_there():
    import multiprocessing

    assert set(multiprocessing.__all__) < set(mp.__all__)
    assert all(getattr(mp, name) is getattr(multiprocessing, name) for name in multiprocessing.__all__)
    assert mp.connection is multiprocessing.connection
