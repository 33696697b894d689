"""Does not wait for the warm-up's kernels, whose end the host's clock then shows."""

FAILS = "test_number_of_calls"
SAYS = "calls"


def milliseconds(function, device, warmup=3, repeats=10):
    """How long one call of `function` keeps the device busy, in ms: the mean of `repeats` calls in a row, after `warmup`
    calls that do not count."""
    for _ in range(warmup):
        function()
    device.synchronize()
    start, end = device.Event(), device.Event()
    start.record(device.current_stream)
    for _ in range(repeats + warmup):
        function()
    end.record(device.current_stream)
    end.synchronize()
    return start.elapsed_time(end) / repeats
