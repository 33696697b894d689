"""What a GPU's compiler says of our kernels, on a machine without a GPU.

    python -m tests.gpu.compiled            every operator that has a kernel, three samples each: some minutes
    python -m tests.gpu.compiled add mm     these operators

The simulator runs kernels as Python and takes much that Numba's compiler refuses: types that do not unify,
functions that are not there, arguments that cannot be passed. Here the operators run on a stand-in for the
driver (memory is NumPy's, and stays 0), with Numba's real arrays and streams. Each kernel is compiled to PTX
for the signature it is launched with, and its arguments are put together for the launch, which is left out.

It needs numba-cuda and NVVM (of a CUDA toolkit, or `pip install numba-cuda[cu13]`).
"""

import ctypes
import sys
from types import SimpleNamespace

import numpy as np

import teachtorch as torch
from teachtorch.kernels.cuda import direct
from teachtorch.memory.cuda import driver, runtime
from teachtorch.ops.on_cuda import operators_with_kernels

CAPABILITY = (9, 0)  # of Hopper cards


SEEN = {}  # (kernel, types) -> an error's text, or None
MOST_BLOCKS = (2**31 - 1, 65535, 65535)  # of a grid, along x, y, z


def start(kernel, blocks, threads, stream, args):
    """In place of direct.start: compiles instead of launching, each signature once."""
    types = tuple(kernel.typeof_pyval(a) for a in args)
    key = kernel, types
    if key not in SEEN:
        try:
            SEEN[key] = compile_and_pack(kernel, types, blocks, threads, args)
        except Exception as error:  # whatever the compiler or the packing says is the finding
            SEEN[key] = f"{type(error).__name__}: {error}"


def compile_and_pack(kernel, types, blocks, threads, args):
    from cuda.core._kernel_arg_handler import ParamHolder
    from numba import cuda
    from numba.cuda.codegen import CUDACodeLibrary
    from numba.cuda.cudadrv.driver import CudaPythonFunction
    from numba.cuda.dispatcher import _Kernel

    sizes = blocks if isinstance(blocks, tuple) else (blocks,)
    assert all(type(n) is int and 0 < n <= most for n, most in zip(sizes, MOST_BLOCKS)), blocks
    direct.configuration(blocks, threads)
    ptx, _ = cuda.compile_ptx(kernel.py_func, types, cc=CAPABILITY)
    assert ".visible .entry" in ptx
    bare, numbas = SimpleNamespace(extensions=[]), []
    for each, value in zip(types, map(as_array, args)):
        _Kernel._prepare_args(bare, each, value, 0, [], numbas)
    ours = direct.packed(args)
    assert [plain(v) for v in ours] == [plain(v) for v in numbas]
    ParamHolder(tuple(ours))
    assert (
        hasattr(CUDACodeLibrary, "get_cufunc") and "kernel" in CudaPythonFunction.__init__.__code__.co_names
    )


def as_array(value):
    """Numba's array for the driver's Flat."""
    is_flat = isinstance(value, driver.Flat)
    return runtime.runtime.driver.array(value.address, value.size, value.dtype) if is_flat else value


def plain(value):
    """A number of ctypes or NumPy as Python's; NaN as a word, which equals itself."""
    value = getattr(value, "value", value)
    value = value.item() if hasattr(value, "item") else value
    return "nan" if value != value else value


class Offline(driver.Simulator):
    """The simulator's memory behind the arrays and streams of the real Numba."""

    name = "no GPU"

    def allocate(self, nbytes):
        address = super().allocate(nbytes)
        ctypes.memset(address, 0, nbytes)
        return address

    def array(self, address, size, dtype):
        from numba.cuda.cudadrv.devicearray import DeviceNDArray
        from numba.cuda.cudadrv.driver import MemoryPointer

        dtype = np.dtype(dtype)
        pointer = MemoryPointer(None, ctypes.c_void_p(address), size * dtype.itemsize) if size else None
        return DeviceNDArray((size,), (dtype.itemsize,), dtype, gpu_data=pointer)

    def flat(self, address, size, dtype):
        return driver.Flat(address, size, dtype)

    def flag(self):
        return self.array(self.allocate(4), 1, np.int32)

    def stream(self, priority):
        from numba.cuda.cudadrv.driver import Stream, binding

        return Stream(binding.CUstream(1))

    def event(self):
        def nothing(*args):
            """Events of a device that does nothing have happened."""

        return SimpleNamespace(record=nothing, wait=nothing, synchronize=nothing, query=lambda: True)


def address_of(array):
    return array.ctypes.data if isinstance(array, np.ndarray) else int(array.gpu_data.device_pointer)


def stand_in():
    """Put the stand-ins in the places of Numba's context, copies and launches. For a process of its own."""
    from numba.cuda.cudadrv import devicearray, devices
    from numba.cuda.cudadrv.driver import Stream

    context = SimpleNamespace(device=SimpleNamespace(compute_capability=CAPABILITY))
    devices._runtime.get_or_create_context = lambda number: context
    array = devicearray.DeviceNDArray
    array.copy_to_device = lambda self, host, stream=0: ctypes.memmove(
        address_of(self), address_of(host), self.nbytes
    )
    array.copy_to_host = lambda self, host=None, stream=0: copied(self, host)
    Stream.synchronize = lambda self: None
    runtime.runtime._driver = Offline()
    runtime.runtime._streams[0] = runtime.runtime._driver.stream(0)
    torch.cuda.is_available = lambda: True
    direct.start = start


def copied(array, host):
    host = np.empty(array.shape, array.dtype) if host is None else host
    ctypes.memmove(host.ctypes.data, address_of(array), array.nbytes)
    return host


def main(names):
    stand_in()
    from tests.sim.test_operators import HOST_ONLY, SAMPLES, call

    for name in names or operators_with_kernels():
        for sample in SAMPLES.get(name, [])[:3] if name not in HOST_ONLY else []:
            call(name, sample, "cuda", False)
    wrong = {key: error for key, error in SEEN.items() if error is not None}
    for (kernel, types), error in wrong.items():
        print(f"{kernel.py_func.__module__}{types}\n    {error}\n")
    print(f"{len(SEEN)} kernels compiled, {len(wrong)} refused")
    return 1 if wrong or not SEEN else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
