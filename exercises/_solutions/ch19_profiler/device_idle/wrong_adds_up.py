"""Takes the sum of the kernels for the wait."""

FAILS = "test_wait"
SAYS = "worked until 11"


def kernels(launches):
    """[(begin, end)] of each kernel in the stream."""
    found, host, stream = [], 0, 0
    for launch, kernel in launches:
        host += launch
        begin = max(host, stream)
        stream = begin + kernel
        found.append((begin, stream))
    return found


def idle(launches):
    """How long the device stands still between the beginning of its first kernel and the end of its last."""
    ran = kernels(launches)
    if not ran:
        return 0
    return ran[-1][1] - ran[0][0] - sum(end - begin for begin, end in ran)


def wait_at_the_end(launches):
    """How long the host waits when it synchronizes after its last launch."""
    ran = kernels(launches)
    return sum(end - begin for begin, end in ran)


def bottleneck(launches):
    """"host" if the device stood still for lack of work, else "device"."""
    return "host" if idle(launches) > 0 else "device"
