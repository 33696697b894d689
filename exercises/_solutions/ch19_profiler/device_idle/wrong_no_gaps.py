"""Lets kernels follow without gaps."""

FAILS = "test_gap"
SAYS = "the second is launched at 6"


def kernels(launches):
    """[(begin, end)] of each kernel in the stream."""
    found, host, stream = [], 0, 0
    for launch, kernel in launches:
        host += launch
        begin = stream if found else host
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
    return ran[-1][1] - sum(launch for launch, _ in launches) if ran else 0


def bottleneck(launches):
    """"host" if the device stood still for lack of work, else "device"."""
    return "host" if idle(launches) > 0 else "device"
