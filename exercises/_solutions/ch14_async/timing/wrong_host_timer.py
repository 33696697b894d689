"""Looks at the host's clock, and waits for nothing."""

FAILS = "test_kernel_time"
SAYS = "launches"


def milliseconds(function, device, warmup=3, repeats=10):
    """How long one call of `function` keeps the device busy, in ms: the mean of `repeats` calls in a row, after `warmup`
    calls that do not count."""
    for _ in range(warmup):
        function()
    device.synchronize()
    start = device.now()
    for _ in range(repeats):
        function()
    return (device.now() - start) / repeats
