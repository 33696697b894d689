"""Streams and events on sim keep the rules of CUDA's (pytorch.org/docs/stable/notes/cuda.html).

Tests hold a stream with a gate, a host function that waits, so that nothing depends on how quick the machine
is.
"""

import gc
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

import teachtorch as torch
from teachtorch import sim
from teachtorch.core import observer


@contextmanager
def held(stream):
    """The stream does not get past this point until the block ends."""
    gate = threading.Event()
    stream.launch_host_function(lambda: gate.wait(60))
    try:
        yield
    finally:
        gate.set()


def test_launch_returns_before_the_kernel_has_run():
    x = torch.zeros(4, device="sim")
    sim.synchronize()
    with held(sim.default_stream()):
        y = x + 1
        assert y.shape == (4,) and y.device == torch.device("sim", 0)
        assert not sim.default_stream().query()
    assert y.tolist() == [1, 1, 1, 1]
    assert sim.default_stream().query()


@pytest.mark.parametrize(
    "wait",
    [
        lambda t: t.item(),
        lambda t: t.tolist(),
        lambda t: t.cpu(),
        bool,
        repr,
        float,
        lambda t: t.to("cpu"),
        torch.nonzero,
        lambda t: t[t > 0],
        torch.unique,
        lambda t: sim.synchronize(),
    ],
)
def test_what_needs_data_waits(wait):
    order = []
    x = torch.ones((), device="sim")
    sim.current_stream().launch_host_function(lambda: order.append("kernel"))
    wait(x)
    assert order == ["kernel"]


def test_one_stream_keeps_order_and_two_need_not():
    order, a, b = [], sim.Stream(), sim.Stream()
    with held(a):
        a.launch_host_function(lambda: order.append("a1"))
        a.launch_host_function(lambda: order.append("a2"))
        b.launch_host_function(lambda: order.append("b"))
        b.synchronize()
        assert order == ["b"]
    a.synchronize()
    assert order == ["b", "a1", "a2"]


def test_wait_stream_orders_work_and_does_not_block_the_host():
    order, a, b = [], sim.Stream(), sim.Stream()
    with held(a):
        a.launch_host_function(lambda: order.append("a"))
        b.wait_stream(a)
        b.launch_host_function(lambda: order.append("b"))
        assert not b.query()
    b.synchronize()
    assert order == ["a", "b"]


def test_wait_stream_covers_only_what_was_there():
    order, a, b = [], sim.Stream(), sim.Stream()
    b.wait_stream(a)
    with held(a):
        b.launch_host_function(lambda: order.append("b"))
        b.synchronize()
    assert order == ["b"]


def test_event_that_is_recorded_again_moves_and_old_waits_stay():
    order, a, b = [], sim.Stream(), sim.Stream()
    event = a.record_event()
    b.wait_event(event)
    with held(a):
        event.record(a)
        assert not event.query()
        b.launch_host_function(lambda: order.append("b"))
        b.synchronize()
    event.synchronize()
    assert order == ["b"] and event.query()


def test_event_never_recorded_is_no_obstacle():
    event = sim.Event()
    sim.current_stream().wait_event(event)
    event.synchronize()
    assert event.query()
    sim.synchronize()


def test_33rd_stream_is_the_first_again():
    streams = [sim.Stream() for _ in range(33)]
    assert streams[32] == streams[0]
    assert len(set(streams)) == 32
    assert sim.default_stream() not in streams
    assert sim.Stream(priority=-1) not in streams


def test_current_stream_is_each_threads_own():
    side, seen = sim.Stream(), []
    with sim.stream(side):
        assert sim.current_stream() == side == torch.accelerator.current_stream()
        thread = threading.Thread(target=lambda: seen.append(sim.current_stream()))
        thread.start()
        thread.join()
    assert seen == [sim.default_stream()] and sim.current_stream() == sim.default_stream()


def test_elapsed_time_is_the_devices_and_in_milliseconds():
    start, end = sim.Event(enable_timing=True), sim.Event(enable_timing=True)
    start.record()
    with sim.cost_model(kernel=0.02):
        torch.ones(1, device="sim")
    end.record()
    end.synchronize()
    assert 20 <= start.elapsed_time(end)


def test_elapsed_time_refuses_in_pytorchs_words():
    timed, plain = sim.Event(enable_timing=True), sim.Event()
    with pytest.raises(RuntimeError, match="Both events must be created with argument 'enable_timing=True'"):
        timed.elapsed_time(plain)
    with pytest.raises(RuntimeError, match="Both events must be recorded before calculating elapsed time"):
        timed.elapsed_time(sim.Event(enable_timing=True))
    stream, late = sim.Stream(), sim.Event(enable_timing=True)
    timed.record()
    with held(stream):
        late.record(stream)
        with pytest.raises(RuntimeError, match="Both events must be completed"):
            timed.elapsed_time(late)


def test_missing_wait_stream_really_loses():
    side = sim.Stream()
    x = torch.zeros(8, device="sim")
    sim.synchronize()
    with held(sim.default_stream()):
        x += 1
        with sim.stream(side):
            y = x * 10
        side.synchronize()
        assert y.untyped_storage().buffer.view("f4").tolist() == [0] * 8
    with sim.stream(side):
        side.wait_stream(sim.default_stream())
        y = x * 10
        assert y.tolist() == [10] * 8
    y.record_stream(sim.default_stream())


# ---- memory ------------------------------------------------------------------------------------------------


def test_memory_of_a_dead_tensor_is_used_again_in_its_stream_only():
    side = sim.Stream()
    with sim.stream(side):
        x = torch.ones(1000, device="sim")
        address = x.data_ptr()
        del x
        assert torch.ones(1000, device="sim").data_ptr() == address
    assert torch.ones(1000, device="sim").data_ptr() != address


def test_record_stream_keeps_memory_until_that_stream_is_done():
    side = sim.Stream()
    x = torch.full((1000,), 7.0, device="sim")
    side.wait_stream(sim.current_stream())
    with held(side):
        with sim.stream(side):
            y = x + 0
        address = x.data_ptr()
        x.record_stream(side)
        del x
        assert torch.zeros(1000, device="sim").data_ptr() != address
    side.synchronize()
    assert torch.zeros(1000, device="sim").data_ptr() == address
    with sim.stream(side):
        assert y.sum().item() == 7000


def test_without_record_stream_the_memory_is_overwritten_under_the_reader():
    side = sim.Stream()
    x = torch.full((1000,), 7.0, device="sim")
    sim.synchronize()
    with held(side):
        with sim.stream(side):
            y = x + 0
        del x
        torch.zeros(1000, device="sim")
        sim.default_stream().synchronize()
    with sim.stream(side):
        assert y.sum().item() == 0


def test_no_block_stays_taken():
    gc.collect()
    before = torch.accelerator.memory_allocated() if hasattr(torch.accelerator, "memory_allocated") else 0
    x = torch.ones(100, 100, device="sim", requires_grad=True)
    (x @ x).sum().backward()
    del x
    gc.collect()
    assert before == (
        torch.accelerator.memory_allocated() if hasattr(torch.accelerator, "memory_allocated") else 0
    )


# ---- copies ------------------------------------------------------------------------------------------------


def test_pinned_copy_is_asynchronous_and_sees_late_changes_of_the_source():
    source = torch.zeros(4).pin_memory()
    assert source.is_pinned() and source.view(2, 2).is_pinned() and not torch.zeros(4).is_pinned()
    with held(sim.default_stream()):
        copy = source.to("sim", non_blocking=True)
        source.fill_(9)
    assert copy.tolist() == [9] * 4


def test_pageable_copy_is_staged():
    source = torch.zeros(4)
    copy = source.to("sim", non_blocking=True)
    source.fill_(9)
    assert copy.tolist() == [0] * 4


def test_pinned_source_may_die_before_the_copy():
    with held(sim.default_stream()):
        copy = torch.full((1000,), 3.0).pin_memory().to("sim", non_blocking=True)
        others = [torch.zeros(1000) for _ in range(50)]
    assert copy.sum().item() == 3000 and len(others) == 50


def test_copy_to_the_host_without_blocking_is_pinned_and_garbage_until_synchronised():
    x = torch.full((4,), 5.0, device="sim")
    sim.synchronize()
    target = torch.zeros(4).pin_memory()
    with held(sim.default_stream()):
        fresh = x.to("cpu", non_blocking=True)
        target.copy_(x, non_blocking=True)
        assert fresh.is_pinned() and target.tolist() == [0] * 4
    sim.synchronize()
    assert fresh.tolist() == target.tolist() == [5] * 4


def test_copies_convert_and_broadcast():
    x = torch.arange(3, device="sim")
    assert x.to("cpu", torch.float64).dtype is torch.float64
    assert torch.zeros(2, 3).copy_(x).tolist() == [[0, 1, 2]] * 2
    assert torch.zeros(2, 3, device="sim").copy_(torch.tensor([1.5, 2, 3])).tolist() == [[1.5, 2, 3]] * 2


# ---- errors ------------------------------------------------------------------------------------------------


def test_error_of_a_kernel_surfaces_at_the_next_synchronisation_with_its_launch_site():
    table, index = torch.ones(3, 2, device="sim"), torch.tensor([7], device="sim")
    with held(sim.default_stream()):
        torch.nn.functional.embedding(index, table)
    with pytest.raises(torch.AcceleratorError, match="embedding, launched at .*test_streams.py") as caught:
        sim.synchronize()
    assert isinstance(caught.value.__cause__, IndexError)
    sim.synchronize()


def test_launch_blocking_raises_where_it_arises():
    sim.set_launch_blocking(True)
    try:
        with pytest.raises(torch.AcceleratorError, match="embedding"):
            torch.nn.functional.embedding(torch.tensor([7], device="sim"), torch.ones(3, 2, device="sim"))
    finally:
        sim.set_launch_blocking(False)


def test_mixed_devices_are_refused_in_pytorchs_words():
    x, y = torch.ones(2, 2, device="sim"), torch.ones(2, 2)
    words = "Expected all tensors to be on the same device, but found at least two devices, sim:0 and cpu!"
    for wrong in (lambda: x + y, lambda: y + x, lambda: x.add_(y), lambda: y.add_(x), lambda: x @ y):
        with pytest.raises(RuntimeError, match=words):
            wrong()
    with pytest.raises(RuntimeError, match="indices should be either on cpu or on the same device"):
        y[torch.tensor([0], device="sim")]
    with pytest.raises(TypeError, match="can't convert sim:0 device type tensor to numpy"):
        x.numpy()
    assert (x + torch.tensor(1.0)).tolist() == [[2, 2], [2, 2]]
    assert x[torch.tensor([0])].tolist() == [[1, 1]]


# ---- backward ----------------------------------------------------------------------------------------------


def test_backward_runs_in_the_streams_of_forward():
    side, launches = sim.Stream(), []
    x = torch.ones(4, device="sim", requires_grad=True)
    side.wait_stream(sim.current_stream())
    with sim.stream(side):
        y = x.sin()
    sim.current_stream().wait_stream(side)
    z = (y * 2).sum()

    def note(topic, fields):
        if fields["action"] == "launch":
            launches.append((fields["launch"].name, fields["launch"].stream_id))

    with observer.watching(note, "stream"):
        z.backward()
    assert ("cos", side.stream_id) in launches
    assert x.grad.tolist() == pytest.approx([2 * 0.5403023058681398] * 4)


def test_gradients_of_two_streams_are_added_in_order():
    a, b = sim.Stream(), sim.Stream()
    x = torch.ones(1000, device="sim", requires_grad=True)
    for _ in range(20):
        x.grad, parts = None, []
        for stream in (a, b):
            stream.wait_stream(sim.current_stream())
            with sim.stream(stream):
                parts.append((x * 3).exp().log())
            sim.current_stream().wait_stream(stream)
        (parts[0] + parts[1]).sum().backward()
        assert x.grad.sum().item() == pytest.approx(6000, rel=1e-4)


# ---- random numbers ----------------------------------------------------------------------------------------


def test_equal_seeds_give_equal_numbers_whatever_the_streams_do():
    side = sim.Stream()

    def draw():
        torch.manual_seed(3)
        with held(sim.default_stream()):
            first = torch.rand(5, device="sim")
            with sim.stream(side):
                second = torch.randn(5, device="sim")
        with sim.stream(side):
            drawn = second.tolist()
        return first.tolist(), drawn

    assert draw() == draw()
    generator = torch.Generator(device="sim").manual_seed(1)
    state = generator.get_state()
    x = torch.rand(3, device="sim", generator=generator)
    generator.set_state(state)
    assert x.tolist() == torch.rand(3, device="sim", generator=generator).tolist()
    with pytest.raises(RuntimeError, match="Expected a 'sim' device type for generator but found 'cpu'"):
        torch.rand(3, device="sim", generator=torch.Generator())


def test_a_stream_survives_a_task_that_asks_to_exit(sim_at_rest):
    def leave():
        raise SystemExit(3)

    sim.current_stream().launch_host_function(leave)
    with pytest.raises(torch.AcceleratorError, match="SystemExit: 3"):
        sim.synchronize()
    assert (torch.ones(2, device="sim") + 1).tolist() == [2, 2]


@pytest.mark.parametrize("wait", ["device", "stream", "event"])
def test_a_host_function_that_waits_for_its_own_stream_is_an_error_not_a_hang(wait, sim_at_rest):
    stream, event, entered = sim.Stream(), sim.Event(), threading.Event()

    def function():
        entered.wait()
        {"device": sim.synchronize, "stream": stream.synchronize, "event": event.synchronize}[wait]()

    stream.launch_host_function(function)
    event.record(stream)
    entered.set()
    with pytest.raises(torch.AcceleratorError, match="the stream would wait for itself"):
        sim.synchronize()


ENDLESS = """
import threading
import teachtorch as torch
torch.sim.current_stream().launch_host_function(threading.Event().wait)
x = torch.ones(10, device="sim") * 2
print("end")
"""


def test_a_program_ends_though_a_host_function_does_not():
    out = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=60)
    assert (out.stdout, out.returncode) == ("end\n", 0), out.stderr
