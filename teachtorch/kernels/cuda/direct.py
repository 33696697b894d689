"""A launch with less of the host's time than Numba's own: what Numba finds out anew at every call (the types of
the arguments, their layouts, the configuration) is looked up here by a short key, and the driver is called
through the package cuda-core, as Numba does. Written against numba-cuda 0.30 and cuda-core 1.
"""

import functools

_kernels = {}  # (Numba's kernel, the argument's dtypes) -> cuda-core's


def start(kernel, blocks, threads, stream, args):
    """Put a kernel into Numba's stream.

    args: flat contiguous device arrays and NumPy scalars, by which the kernel is compiled at its first launch.
    """
    from cuda.core import launch

    key = kernel, *[a.dtype for a in args]
    ready = _kernels.get(key)
    if ready is None:
        ready = _kernels[key] = compiled(kernel, args)
    launch(core_stream(stream), configuration(blocks, threads), ready, *packed(args))


def compiled(kernel, args):
    """cuda-core's kernel for these arguments, on the current GPU."""
    found = kernel.compile(tuple([kernel.typeof_pyval(a) for a in args]))
    return found._codelibrary.get_cufunc().kernel


def packed(args):
    """What a compiled kernel takes: of an array seven numbers, Numba's structure of one dimension.

    They are: who counts references, who holds the memory (nobody, both), elements, bytes of one, address,
    size, stride.
    """
    values = []
    for a in args:
        size = getattr(a, "shape", None)
        if size:
            itemsize, (count,) = a.dtype.itemsize, size
            values += (0, 0, count, itemsize, address_of(a), count, itemsize)
        else:
            values.append(a)
    return values


def address_of(array):
    """Of the Flat of memory/cuda/driver.py, or of Numba's array."""
    found = getattr(array, "address", None)
    return array.device_ctypes_pointer.value if found is None else found


@functools.lru_cache(maxsize=4096)
def configuration(blocks, threads):
    """cuda-core's form of a launch's sizes."""
    from cuda.core import LaunchConfig

    return LaunchConfig(grid=blocks, block=threads)


_streams = {}  # Numba's stream -> cuda-core's


def core_stream(stream):
    if stream not in _streams:
        from numba.cuda.cudadrv.driver import _to_core_stream

        _streams[stream] = _to_core_stream(stream)
    return _streams[stream]
