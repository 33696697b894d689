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
from teachtorch.kernels.cuda import source
from teachtorch.memory.cuda import driver, runtime
from teachtorch.ops.on_cuda import operators_with_kernels

CAPABILITY = (9, 0)  # of Hopper cards


class Launched:
    """Stands for a kernel: compiles instead of launching, each signature once."""

    seen = {}  # (title, types) -> an error's text, or None

    def __init__(self, kernel, title):
        self.kernel, self.title = kernel, title

    def __getitem__(self, config):
        assert all(type(n) is int for n in flat(config[:2])), "the launch wants Python's ints"
        return self.compile

    def compile(self, *args):
        types = tuple(self.kernel.typeof_pyval(a) for a in args)
        key = self.title, id(self.kernel), types
        if key not in self.seen:
            try:
                self.seen[key] = compile_and_pack(self.kernel, types, args)
            except Exception as error:  # whatever the compiler or the packing says is the finding
                self.seen[key] = f"{type(error).__name__}: {error}"


def flat(numbers):
    return [m for n in numbers for m in (n if isinstance(n, tuple) else (n,))]


def compile_and_pack(kernel, types, args):
    from cuda.core._kernel_arg_handler import ParamHolder
    from numba import cuda
    from numba.cuda.dispatcher import _Kernel

    ptx, _ = cuda.compile_ptx(kernel.py_func, types, cc=CAPABILITY)
    assert ".visible .entry" in ptx
    bare, packed = SimpleNamespace(extensions=[]), []
    for each, value in zip(types, args):
        _Kernel._prepare_args(bare, each, value, 0, [], packed)
    ParamHolder(tuple(packed))


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
    load = source.load_module
    source.load_module = lambda title, text: SimpleNamespace(kernel=Launched(load(title, text).kernel, title))


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
    wrong = {key: error for key, error in Launched.seen.items() if error is not None}
    for (title, _, types), error in wrong.items():
        print(f"{title}{types}\n    {error}\n")
    print(f"{len(Launched.seen)} kernels compiled, {len(wrong)} refused")
    return 1 if wrong or not Launched.seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
