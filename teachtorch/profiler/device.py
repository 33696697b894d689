"""What the simulated device did, made of a recorder's notes: launches on the host, kernels in their streams, memory.

The host's launch and the kernel are two events far apart in time; `correlation` says that they belong
together. Kernels report from the threads of their streams, so that the lane of a stream is not the thread but
the stream's number.
"""
from .activities import DeviceType
from .events import FunctionEvent

RUNTIME = "privateuse1_runtime"
WAITS = {"stream": "simStreamSynchronize", "event": "simEventSynchronize", "device": "simDeviceSynchronize"}

IN_STREAMS = ("begin_kernel", "end_kernel")    # notes of the streams' own threads


class DeviceReplay:
    """The part of a Replay that reads the notes of streams and of the allocator."""

    def __init__(self, replay):
        self.replay = replay
        # number of a launch -> the event of its kernel, until that ends
        self.kernels = {}

    def launch(self, number, name, is_copy, stream, begin, end, lines):
        replay = self.replay
        caller = replay.stack[-1].event if replay.stack else None
        call = replay.happened("simMemcpyAsync" if is_copy else "simLaunchKernel", begin, end, RUNTIME, lines)
        kernel = FunctionEvent(next(replay.numbers), name, stream, device_type=DeviceType.PrivateUse1,
                               category="gpu_memcpy" if is_copy else "kernel")
        kernel.correlation = call.correlation = number
        kernel.caller = caller
        self.kernels[number] = kernel

    def begin_kernel(self, number, time):
        kernel = self.kernels.get(number)
        if kernel is not None:
            kernel.start = time

    def end_kernel(self, number, time):
        kernel = self.kernels.pop(number, None)
        if kernel is None or kernel.start is None:
            return
        kernel.end = time
        self.replay.events.append(kernel)
        if kernel.caller is not None:
            kernel.caller.append_kernel(kernel.name, 0, kernel.end - kernel.start)

    def wait(self, scope, begin, end, lines):
        self.replay.happened(WAITS[scope], begin, end, RUNTIME, lines)

    def device_memory(self, change):
        if self.replay.stack:
            self.replay.stack[-1].event.self_device_memory_usage += change
