"""What the simulated device does, seen by the profiler: launches on the host, kernels in their streams,
memory.

The host's launch and the kernel are two events far apart in time; `correlation` says that they belong
together. Kernels report from the threads of their streams, so that the lane of a stream is not the thread but
the stream's number.
"""
from ..memory.streams import synchronize
from .activities import DeviceType
from .events import FunctionEvent, Kernel

RUNTIME = "privateuse1_runtime"
WAITS = {"stream": "simStreamSynchronize", "event": "simEventSynchronize", "device": "simDeviceSynchronize"}


class DeviceRecorder:
    """The part of a Recorder that hears of streams and of the allocator."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.kernels = {}                      # number of a launch -> the event of its kernel, until that ends
        self.has_launched = self.is_ending = False

    def wait(self):
        """Until every kernel that was launched has run."""
        self.is_ending = True
        if self.has_launched:
            synchronize("sim")

    # ---- streams -------------------------------------------------------------------------------------------

    def on_stream(self, action, **fields):
        handle = getattr(self, "on_" + action, None)
        if handle is not None:
            handle(**fields)

    def on_launch(self, launch, begin, time, **_):
        self.has_launched = True
        recorder = self.recorder
        caller = recorder.open.stack[-1][1] if recorder.open.stack else None
        name = "simMemcpyAsync" if launch.is_copy else "simLaunchKernel"
        call = recorder.happened(name, begin * 1e6, time * 1e6, RUNTIME)
        kernel = FunctionEvent(next(recorder.numbers), launch.name, launch.stream_id, device_type=DeviceType.PrivateUse1,
                               category="gpu_memcpy" if launch.is_copy else "kernel")
        kernel.correlation = call.correlation = launch.number
        kernel.caller = caller
        self.kernels[launch.number] = kernel

    def on_begin(self, launch, time, **_):
        kernel = self.kernels.get(launch.number)
        if kernel is not None:
            kernel.start = time * 1e6

    def on_end(self, launch, time, **_):
        kernel = self.kernels.pop(launch.number, None)
        if kernel is None or kernel.start is None:
            return
        kernel.end = time * 1e6
        self.recorder.events.append(kernel)
        if kernel.caller is not None:
            kernel.caller.append_kernel(kernel.name, 0, kernel.end - kernel.start)

    def on_synchronize(self, scope, begin, time, **_):
        if not self.is_ending:
            self.recorder.happened(WAITS[scope], begin * 1e6, time * 1e6, RUNTIME)

    # ---- memory --------------------------------------------------------------------------------------------

    def on_memory(self, action, size=0, **_):
        signs = {"alloc": 1, "free_completed": -1}
        if self.recorder.profile_memory and action in signs and self.recorder.open.stack:
            self.recorder.open.stack[-1][1].self_device_memory_usage += signs[action] * size
