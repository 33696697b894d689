"""The sanitizer finds the races there are, names both sides and the missing call, and finds none in ordered
programs.
"""

import inspect
import threading

import pytest

import teachtorch as torch
from teachtorch import sim
from teachtorch.accelerator.races import Race, StreamRace, UseAfterFree


def collecting():
    return torch.accelerator.sanitizer(on_error="collect")


def race_of(program):
    """The one finding of a program that gets (x of the default stream, another stream)."""
    x, side = torch.ones(8, device="sim"), sim.Stream()
    sim.synchronize()
    with collecting() as found:
        program(x, side)
    sim.synchronize()
    assert len(found.findings) == 1, found.report()
    return found.findings[0]


def read_after_write(x, side):
    x.mul_(2)
    with sim.stream(side):
        return x + 1


def write_after_read(x, side):
    y = x + 1
    with sim.stream(side):
        x.mul_(2)
    return y


def write_after_write(x, side):
    x.fill_(2)
    with sim.stream(side):
        x.fill_(3)


@pytest.mark.parametrize(
    ("program", "first", "second"),
    [
        (read_after_write, "mul_ writes", "add reads"),
        (write_after_read, "add reads", "mul_ "),
        (write_after_write, "fill_ writes", "fill_ writes"),
    ],
)
def test_race_is_found_and_named(program, first, second):
    race = race_of(program)
    assert isinstance(race, Race)
    assert race.kind == program.__name__.replace("_", " ")
    words = str(race)
    assert first in words and second in words and "wait_stream(default_stream)" in words
    start = inspect.getsourcelines(program)[1]
    sites = [access.launch.site for access in (race.first, race.second)]
    assert sites == [(__file__, start + 1), (__file__, start + 3)]


@pytest.mark.parametrize(
    "order",
    [
        lambda side: side.wait_stream(sim.default_stream()),
        lambda side: side.wait_event(sim.default_stream().record_event()),
        lambda side: sim.synchronize(),
        lambda side: sim.default_stream().synchronize(),
        lambda side: torch.ones((), device="sim").item(),
    ],
)
def test_each_way_of_waiting_orders(order):
    x, side = torch.ones(8, device="sim"), sim.Stream()
    with torch.accelerator.sanitizer():
        x.mul_(2)
        order(side)
        with sim.stream(side):
            y = x + 1
        sim.synchronize()
    assert y.tolist() == [3] * 8


def test_wait_covers_only_what_was_there():
    x, side = torch.ones(8, device="sim"), sim.Stream()
    with collecting() as found:
        side.wait_stream(sim.default_stream())
        x.mul_(2)
        with sim.stream(side):
            y = x + 1
        sim.synchronize()
    assert [finding.kind for finding in found.findings] == ["read after write"] and y is not None


def test_order_goes_over_a_third_stream():
    x, a, b = torch.ones(8, device="sim"), sim.Stream(), sim.Stream()
    with torch.accelerator.sanitizer():
        x.mul_(2)
        a.wait_stream(sim.default_stream())
        b.wait_stream(a)
        with sim.stream(b):
            x.add_(1)
        sim.synchronize()


def test_two_readers_and_two_halves_are_no_race():
    x, side = torch.ones(8, device="sim"), sim.Stream()
    sim.synchronize()
    with torch.accelerator.sanitizer():
        y = x + 1
        with sim.stream(side):
            z = x + 2
        side.wait_stream(sim.default_stream())
        sim.default_stream().wait_stream(side)
        x[:4].mul_(2)
        with sim.stream(side):
            x[4:].mul_(3)
        sim.synchronize()
    assert y.tolist() == [2] * 8 and z.tolist() == [3] * 8


def test_use_after_free_names_record_stream():
    side = sim.Stream()
    with collecting() as found:
        x = torch.ones(8, device="sim")
        side.wait_stream(sim.default_stream())
        with sim.stream(side):
            y = x + 1
        del x
        sim.synchronize()
    assert y is not None and len(found.findings) == 1
    finding = found.findings[0]
    assert isinstance(finding, UseAfterFree) and f"record_stream(stream_{side.stream_id})" in str(finding)
    assert finding.site[0] == __file__


@pytest.mark.parametrize(
    "keep",
    [
        lambda x, side: x.record_stream(side),
        lambda x, side: sim.default_stream().wait_stream(side),
        lambda x, side: side.synchronize(),
    ],
)
def test_kept_memory_is_no_finding(keep):
    side = sim.Stream()
    with torch.accelerator.sanitizer():
        x = torch.ones(8, device="sim")
        side.wait_stream(sim.default_stream())
        with sim.stream(side):
            y = x + 1
        keep(x, side)
        del x
        torch.zeros(8, device="sim")
        sim.synchronize()
    assert y.numel() == 8


def test_record_stream_orders_nothing():
    x, side = torch.ones(8, device="sim"), sim.Stream()
    sim.synchronize()
    with collecting() as found:
        x.mul_(2)
        x.record_stream(side)
        with sim.stream(side):
            y = x + 1
        sim.synchronize()
    assert y.numel() == 8 and [finding.kind for finding in found.findings] == ["read after write"]


def test_raises_at_the_racing_line():
    x, side = torch.ones(8, device="sim"), sim.Stream()
    with pytest.raises(StreamRace, match="read after write"), torch.accelerator.sanitizer():
        x.mul_(2)
        with sim.stream(side):
            x + 1


def test_training_with_one_stream_and_backward_over_two_are_clean():
    side = sim.Stream()
    x = torch.ones(8, device="sim", requires_grad=True)
    with torch.accelerator.sanitizer():
        for _ in range(3):
            side.wait_stream(sim.default_stream())
            with sim.stream(side):
                y = x.sin() * x
            sim.default_stream().wait_stream(side)
            y.record_stream(sim.default_stream())
            loss = (y * x).sum()
            loss.backward()
            x.grad = None
        sim.synchronize()


def in_two_columns(x, side):
    a = torch.ones(10, 10, device="sim")
    side.wait_stream(sim.current_stream())
    a[:, 0].add_(1)
    with sim.stream(side):
        a[:, 1].add_(1)
    a.record_stream(side)


def in_blocks(x, side):
    a = torch.ones(4, 6, 5, device="sim")
    side.wait_stream(sim.current_stream())
    a[:, :3].mul_(2)
    with sim.stream(side):
        a[:, 3:].mul_(3)
    a.record_stream(side)


def after_the_event_was_asked(x, side):
    event = sim.Event()
    x.add_(1)
    event.record()
    while not event.query():
        """The host polls instead of waiting."""
    with sim.stream(side):
        x.mul_(2)


def after_the_stream_was_asked(x, side):
    x.add_(1)
    while not sim.current_stream().query():
        """The host polls instead of waiting."""
    with sim.stream(side):
        x.mul_(2)


@pytest.mark.parametrize(
    "program", [in_two_columns, in_blocks, after_the_event_was_asked, after_the_stream_was_asked]
)
def test_no_race_is_invented(program):
    x, side = torch.ones(8, device="sim"), sim.Stream()
    sim.synchronize()
    with collecting() as found:
        program(x, side)
        sim.synchronize()
    assert found.findings == [], found.report()


def test_interleaved_views_that_share_a_column_race():
    def program(x, side):
        a = torch.ones(10, 10, device="sim")
        side.wait_stream(sim.current_stream())
        a[:, :2].add_(1)
        with sim.stream(side):
            a[:, 1:3].add_(1)
        a.record_stream(side)

    assert race_of(program).kind in ("write after write", "read after write", "write after read")


def test_an_event_that_is_not_done_orders_nothing():
    def program(x, side):
        event, gate = sim.Event(), threading.Event()
        sim.current_stream().launch_host_function(gate.wait)
        x.add_(1)
        event.record()
        assert not event.query()
        with sim.stream(side):
            x.mul_(2)
        gate.set()

    race_of(program)
