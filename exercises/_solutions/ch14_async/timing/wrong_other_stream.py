"""Records the events in the default stream."""

FAILS = "test_in_another_stream"
SAYS = "the stream"


def milliseconds(function, device, warmup=3, repeats=10):
    """How long one call of `function` keeps the device busy, in ms: the mean of `repeats` calls in a row, after `warmup`
    calls that do not count."""
    for _ in range(warmup):
        function()
    device.synchronize()
    start, end = device.Event(), device.Event()
    start.record(device.default_stream)
    for _ in range(repeats):
        function()
    end.record(device.default_stream)
    end.synchronize()
    return start.elapsed_time(end) / repeats
