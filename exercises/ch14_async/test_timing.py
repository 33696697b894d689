"""Grades timing.py, on a device on paper."""

from exercises.grading import equal, holds, points

LAUNCH = 0.01


class Event:
    def __init__(self, device):
        self.device, self.time = device, None

    def record(self, stream=None):
        stream = self.device.current_stream if stream is None else stream
        self.time = max(self.device.host, self.device.free.get(stream, 0.0))

    def synchronize(self):
        self.device.host = max(self.device.host, self.time)

    def elapsed_time(self, end):
        if self.time is None or end.time is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        if max(self.time, end.time) > self.device.host:
            self.device.asked_too_early = True
        return end.time - self.time


class Device:
    """Kernels take `kernel` ms, and launches `LAUNCH`; the first `slow` ones take a hundred times as long."""

    default_stream = "default"

    def __init__(self, kernel=2.0, slow=0, stream="default"):
        self.kernel, self.slow, self.current_stream = kernel, slow, stream
        self.host, self.free, self.calls, self.asked_too_early = 0.0, {}, 0, False

    def Event(self):
        return Event(self)

    def now(self):
        return self.host

    def synchronize(self):
        self.host = max([self.host, *self.free.values()])

    def function(self):
        self.calls += 1
        self.host += LAUNCH
        begin = max(self.host, self.free.get(self.current_stream, 0.0))
        self.free[self.current_stream] = begin + self.kernel * (100 if self.calls <= self.slow else 1)


def measured(yours, device, **options):
    return round(float(yours.milliseconds(device.function, device, **options)), 1)


@points(1, "the kernel's time, not the launch's")
def test_kernel_time(yours):
    equal(measured(yours, Device()), 2.0, f"kernels take 2 ms, and their launches {LAUNCH}")


@points(1, "the first calls do not count")
def test_first_calls_do_not_count(yours):
    why = "the first calls are slow, and are to be left out"
    equal(measured(yours, Device(slow=3)), 2.0, why)
    equal(measured(yours, Device(slow=1), warmup=1), 2.0, why)


@points(1, "in whatever stream")
def test_in_another_stream(yours):
    equal(
        measured(yours, Device(stream="side")),
        2.0,
        "the function's kernels are in the stream that is current",
    )


@points(1, "waits before it asks")
def test_waits_before_it_asks(yours):
    device = Device()
    yours.milliseconds(device.function, device)
    holds(not device.asked_too_early, "elapsed_time was asked while the device was not done")


@points(1, "the number of calls")
def test_number_of_calls(yours, rng):
    warmup, repeats = int(rng.randint(1, 4)), int(rng.randint(1, 5))
    device = Device()
    found = measured(yours, device, warmup=warmup, repeats=repeats)
    equal(device.calls, warmup + repeats, f"warmup={warmup}, repeats={repeats}", what="calls")
    equal(found, 2.0, "the mean of the calls that count")


@points(1, "leaves the work of others out")
def test_work_before(yours):
    device = Device()
    device.free["default"] = 500.0
    equal(measured(yours, device), 2.0, "the stream was busy for 500 ms with something else")
