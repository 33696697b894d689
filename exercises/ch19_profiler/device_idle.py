"""What the host sees of a device: launches take the host's time, kernels the device's.

    host    |launch|launch|launch|            | synchronize: waits |
    stream          |--- kernel 0 ---|--- kernel 1 ---|--- kernel 2 ---|

A launch is a pair (launch, kernel): how long the host needs to launch, and how long the kernel runs. The host launches one
after the other from time 0 on and never waits, until it synchronizes at the end. A kernel begins when its launch is
over and the kernel before it has ended.
"""


def kernels(launches):
    """[(begin, end)] of each kernel in the stream."""
    raise NotImplementedError


def idle(launches):
    """How long the device stands still between the beginning of its first kernel and the end of its last."""
    raise NotImplementedError


def wait_at_the_end(launches):
    """How long the host waits when it synchronizes after its last launch."""
    raise NotImplementedError


def bottleneck(launches):
    """"host" if the device stood still for lack of work, else "device"."""
    raise NotImplementedError
