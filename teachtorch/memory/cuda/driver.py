"""What teachtorch asks of the GPU's driver, in two forms: the real one, and the same of Numba's simulator.

Both have the same methods. An address is an int; `array(address, size, dtype)` is a flat device array over
memory that somebody else owns, which is what kernels and copies take. `Hardware` has not been run on a GPU
yet: it was written against numba-cuda 0.30 (`numba_cuda/numba/cuda/cudadrv/driver.py`), and each method is
one call of it. tests/gpu/compiled.py runs everything above it, and Numba's compiler, without a GPU.
"""

import ctypes
import itertools

import numpy as np
from numba import config, cuda, typeof

from ..runtime import DeviceOutOfMemory

SIMULATED_MEMORY = 256 << 20  # bytes
OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY
NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING

_waiting, _next_key = {}, itertools.count(1).__next__  # functions that streams are to call, by number


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _call_waiting(key):
    """What the driver calls, on a thread of its own. It must not call the driver in turn."""
    _waiting.pop(key)()


class Flat:
    """Flat device memory for kernels: what Numba's DeviceNDArray tells a compiled kernel, made in a tenth of the
    time.
    """

    __slots__ = ("address", "dtype", "shape")

    def __init__(self, address, size, dtype):
        self.address, self.shape, self.dtype = address, (size,), dtype

    @property
    def size(self):
        return self.shape[0]

    @property
    def _numba_type_(self):
        """Numba asks every argument of a kernel for its type by this name."""
        return typeof(np.empty(0, self.dtype))


class Hardware:
    """The GPU that is Numba's current device.

    Numba warns of each launch of fewer than 128 blocks; here small tensors are as welcome as large ones, and so
    its switch for that (NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS) is off from here on.
    """

    def __init__(self):
        config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
        self.context = cuda.current_context()
        self.name = cuda.get_current_device().name
        self.name = self.name.decode() if isinstance(self.name, bytes) else self.name
        self.owners = {}  # address -> what keeps the memory

    def allocate(self, nbytes):
        """The address of fresh memory (cuMemAlloc). DeviceOutOfMemory if there is none."""
        self.enter()
        try:
            owner = self.context.memalloc(nbytes)
        except Exception as error:
            if getattr(error, "code", None) == OUT_OF_MEMORY:
                raise DeviceOutOfMemory(f"cuda: no {nbytes} bytes in one piece") from error
            raise
        address = owner.device_pointer_value
        self.owners[address] = owner
        return address

    def release(self, address):
        """Give memory back (cuMemFree), at once: Numba would wait until there is more to give back."""
        del self.owners[address]
        self.context.memory_manager.deallocations.clear()

    def enter(self):
        """Make the GPU this thread's, which it has to be before the driver is asked for anything."""
        cuda.current_context()

    def memory_info(self):
        """(free, total) bytes."""
        self.enter()
        return tuple(self.context.get_memory_info())

    def array(self, address, size, dtype):
        """A flat device array."""
        from numba.cuda.cudadrv.devicearray import DeviceNDArray
        from numba.cuda.cudadrv.driver import MemoryPointer

        dtype = np.dtype(dtype)
        nbytes = size * dtype.itemsize
        pointer = MemoryPointer(self.context, ctypes.c_void_p(address), nbytes) if nbytes else None
        return DeviceNDArray((size,), (dtype.itemsize,), dtype, gpu_data=pointer)

    def flat(self, address, size, dtype):
        """Flat device memory, for kernels alone."""
        return Flat(address, size, dtype)

    def flag(self):
        """One int32, 0, that kernels set."""
        return cuda.to_device(np.zeros(1, np.int32))

    def stream(self, priority):
        """A stream that does not wait for the default one, nor that for it, as PyTorch's; Numba's own would."""
        from numba.cuda.cudadrv.driver import Stream, driver

        self.enter()
        return Stream(driver.cuStreamCreateWithPriority(NON_BLOCKING, priority))

    def event(self):
        return cuda.event(timing=True)

    def is_done(self, event):
        return event.query()

    def pinned(self, nbytes):
        """Page-locked host memory, a flat uint8 array."""
        return cuda.pinned_array(nbytes, np.uint8)

    def call_in_stream(self, stream, function):
        """Call a Python function when the stream comes to it (cuLaunchHostFunc).

        Not by Numba's add_callback: that of 0.30 asks the stream's handle for a `value` that it does not have.
        """
        from numba.cuda.cudadrv.driver import binding, driver

        key = _next_key()
        _waiting[key] = function
        address = ctypes.cast(_call_waiting, ctypes.c_void_p).value
        driver.cuLaunchHostFunc(int(stream.handle), binding.CUhostFn(address), key)

    def milliseconds_between(self, start, end):
        return start.elapsed_time(end)

    def synchronize(self):
        cuda.synchronize()


class Simulator:
    """Numba's simulator: device memory is NumPy's, streams and events do nothing, since all work is done at once."""

    name = "Numba CUDA simulator"

    def __init__(self):
        self.owners = {}
        self.taken = 0

    def allocate(self, nbytes):
        if self.taken + nbytes > SIMULATED_MEMORY:
            raise DeviceOutOfMemory(f"cuda: no {nbytes} bytes in one piece")
        memory = np.empty(nbytes, np.uint8)
        address = memory.__array_interface__["data"][0]
        self.owners[address] = memory
        self.taken += nbytes
        return address

    def release(self, address):
        self.taken -= self.owners.pop(address).nbytes

    def memory_info(self):
        return SIMULATED_MEMORY - self.taken, SIMULATED_MEMORY

    def array(self, address, size, dtype):
        from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

        dtype = np.dtype(dtype)
        memory = (ctypes.c_uint8 * (size * dtype.itemsize)).from_address(address) if size else b""
        return FakeCUDAArray(np.frombuffer(memory, dtype))

    def flat(self, address, size, dtype):
        return self.array(address, size, dtype)

    def flag(self):
        return cuda.to_device(np.zeros(1, np.int32))

    def stream(self, priority):
        return cuda.stream()

    def event(self):
        return cuda.event()

    def is_done(self, event):
        return True

    def pinned(self, nbytes):
        return np.empty(nbytes, np.uint8)

    def call_in_stream(self, stream, function):
        function()

    def milliseconds_between(self, start, end):
        return 0.0

    def synchronize(self):
        """Nothing to wait for."""
