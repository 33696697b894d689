"""Asks before the device is done."""

FAILS = "test_waits_before_it_asks"
SAYS = "not done"


def milliseconds(function, device, warmup=3, repeats=10):
    """How long one call of `function` keeps the device busy, in ms: the mean of `repeats` calls in a row, after `warmup`
    calls that do not count."""
    for _ in range(warmup):
        function()
    device.synchronize()
    start, end = device.Event(), device.Event()
    start.record(device.current_stream)
    for _ in range(repeats):
        function()
    end.record(device.current_stream)
    return start.elapsed_time(end) / repeats
