"""How long things take on the simulated device. Without a cost model they take as long as they take."""

from contextlib import contextmanager
from time import perf_counter, sleep


class CostModel:
    """Lower bounds on durations; None or 0 leaves the real one.

    Args:
        launch: seconds that a launch keeps the host busy (a GPU's: 5e-6 to 1e-5).
        kernel: seconds that every kernel takes at least.
        bandwidth: bytes per second that kernels read and write.
        copy_bandwidth: bytes per second of copies between host and device.
    """

    def __init__(self, launch=0.0, kernel=0.0, bandwidth=None, copy_bandwidth=None):
        self.launch, self.kernel = launch, kernel
        self.bandwidth, self.copy_bandwidth = bandwidth, copy_bandwidth
        self.slows_kernels = bool(kernel or bandwidth or copy_bandwidth)

    def seconds_of(self, is_copy, nbytes):
        """How long a kernel or a copy that moves `nbytes` takes at least."""
        bandwidth = self.copy_bandwidth if is_copy else self.bandwidth
        return self.kernel + (nbytes / bandwidth if bandwidth else 0.0)

    def wait_for_launch(self, begin):
        """Keep the host busy until a launch that began at `begin` has taken its time, but let other threads run."""
        while (missing := begin + self.launch - perf_counter()) > 0:
            sleep(missing if missing > 1e-3 else 0)  # a short sleep would last longer than a launch does

    def wait_for_kernel(self, begin, is_copy, nbytes):
        """Let the stream's thread sleep until a kernel that began at `begin` has taken its time."""
        missing = begin + self.seconds_of(is_copy, nbytes) - perf_counter()
        if missing > 0:
            sleep(missing)

    def __repr__(self):
        return (
            f"CostModel(launch={self.launch}, kernel={self.kernel}, bandwidth={self.bandwidth}, "
            f"copy_bandwidth={self.copy_bandwidth})"
        )


@contextmanager
def cost_model(runtime, model):
    """Give a device another cost model for the length of a `with` block; its queues are emptied at both ends."""
    runtime.synchronize()
    before, runtime.cost = runtime.cost, model
    try:
        yield model
    finally:
        runtime.synchronize()
        runtime.cost = before
