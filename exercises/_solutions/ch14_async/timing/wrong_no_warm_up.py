"""Counts the first calls."""

FAILS = "test_first_calls_do_not_count"
SAYS = "first calls"


def milliseconds(function, device, warmup=3, repeats=10):
    """How long one call of `function` keeps the device busy, in ms: the mean of `repeats` calls in a row, after `warmup`
    calls that do not count."""
    device.synchronize()
    start, end = device.Event(), device.Event()
    start.record(device.current_stream)
    for _ in range(repeats):
        function()
    end.record(device.current_stream)
    end.synchronize()
    return start.elapsed_time(end) / repeats
