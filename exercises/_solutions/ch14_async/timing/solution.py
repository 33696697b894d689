"""Time a function that launches kernels: what the device took, not what the host took to say so.

The tests hand you a device on paper:

    device.now()                     the host's clock, in ms
    device.synchronize()             the host waits for all streams
    device.current_stream            the stream into which the function puts its kernels
    device.default_stream            the stream that is current unless somebody chose another
    event = device.Event()
    event.record(stream)             the event stands behind the work that the stream has so far
    event.synchronize()              the host waits for the event
    start.elapsed_time(end)          ms of the device's clock; RuntimeError unless both are recorded and done

The first calls of a function are slow: kernels are compiled, memory is asked for. They do not count.
"""


def milliseconds(function, device, warmup=3, repeats=10):
    """How long one call of `function` keeps the device busy, in ms: the mean of `repeats` calls in a row, after `warmup`
    calls that do not count."""
    # solution
    for _ in range(warmup):
        function()
    device.synchronize()
    start, end = device.Event(), device.Event()
    start.record(device.current_stream)
    for _ in range(repeats):
        function()
    end.record(device.current_stream)
    end.synchronize()
    return start.elapsed_time(end) / repeats
    # end of solution
