"""Grades stream_simulator.py."""

from exercises.grading import equal, points


@points(1, "a kernel begins when it is launched and its stream is free")
def test_one_stream(yours):
    device = yours.Device(launch_cost=1.0)
    spans = [device.launch("a", 5.0), device.launch("a", 5.0)]
    equal(spans, [(1.0, 6.0), (6.0, 11.0)], "two kernels of 5 in one stream, launches of 1")
    slow = yours.Device(launch_cost=5.0)
    spans = [slow.launch("a", 1.0), slow.launch("a", 1.0)]
    equal(spans, [(5.0, 6.0), (10.0, 11.0)], "kernels of 1, launches of 5: the device waits for the host")


@points(1, "the host runs ahead")
def test_host_runs_ahead(yours):
    device = yours.Device(launch_cost=1.0)
    for _ in range(10):
        device.launch("a", 4.0)
    equal(
        device.host, 10.0, "after 10 launches of 1 the host has left, whatever the kernels take", what="host"
    )
    equal(device.free["a"], 41.0, "the first kernel begins at 1, and each takes 4", what="the stream's end")


@points(1, "streams run side by side")
def test_streams_run_side_by_side(yours):
    device = yours.Device(launch_cost=1.0)
    spans = [device.launch("a", 10.0), device.launch("b", 10.0)]
    equal(spans, [(1.0, 11.0), (2.0, 12.0)], "two streams run side by side")


@points(1, "wait_stream orders the device")
def test_wait_stream(yours):
    device = yours.Device(launch_cost=1.0)
    device.launch("a", 10.0)
    device.wait_stream("b", "a")
    equal(device.launch("b", 1.0), (11.0, 12.0), "b waits for what a has")


@points(1, "wait_stream does not block the host")
def test_wait_stream_leaves_the_host_alone(yours):
    device = yours.Device(launch_cost=1.0)
    device.launch("a", 10.0)
    device.wait_stream("b", "a")
    equal(device.host, 1.0, "the device waits, and the host goes on", what="host")


@points(1, "a wait covers only the work that is there")
def test_only_what_is_there(yours):
    device = yours.Device(launch_cost=1.0)
    device.launch("a", 2.0)
    device.wait_stream("b", "a")
    device.launch("a", 50.0)
    equal(
        device.launch("b", 1.0),
        (3.0, 4.0),
        "b waits for what it had when it was told to wait: a's kernel of 2",
    )


@points(1, "an event that is recorded again moves, and old waits stay")
def test_recorded_again(yours):
    device, event = yours.Device(launch_cost=1.0), yours.Event()
    device.launch("a", 2.0)
    device.record(event, "a")
    device.wait_event("b", event)
    device.launch("a", 50.0)
    device.record(event, "a")
    equal(
        device.launch("b", 1.0),
        (3.0, 4.0),
        "b was told to wait before the event moved: it waits for the old point",
    )
    device.wait_event("c", event)
    equal(device.launch("c", 1.0), (53.0, 54.0), "c was told afterwards: it waits for the new one")


@points(1, "an event that was never recorded is no obstacle")
def test_never_recorded(yours):
    device = yours.Device(launch_cost=1.0)
    device.wait_event("a", yours.Event())
    equal(device.launch("a", 1.0), (1.0, 2.0), "the event was never recorded")


@points(1, "synchronize blocks the host, until one stream is done")
def test_synchronize(yours):
    device = yours.Device(launch_cost=1.0)
    device.launch("a", 5.0)
    device.launch("b", 50.0)
    device.synchronize("a")
    equal(device.host, 6.0, "the host waits for stream a, and not for b", what="host")
    device.synchronize("a")
    equal(device.host, 6.0, "a is done: no time passes", what="host")


@points(1, "item() in a loop costs the overlap")
def test_item_each_time(yours, rng):
    count, cost, kernel = int(rng.randint(3, 8)), 1.0, float(rng.randint(2, 8))
    device = yours.Device(cost)
    for _ in range(count):
        device.launch("a", kernel)
        device.synchronize("a")
    equal(device.host, count * (cost + kernel), "each time the host launches, and then waits", what="host")
