"""Copies between the host and an accelerator, pinned memory, and the questions whether memory is pinned.

    host → device   from pinned memory with non_blocking=True the host goes on at once, and must leave the source alone
                    until the copy is done; from ordinary memory the bytes are staged first, and the host
                    waits
    device → host   with non_blocking=True into pinned memory (`.to("cpu", non_blocking=True)` allocates it): garbage
                    until the host has synchronised; else the host waits
aten/src/ATen/native/cuda/Copy.cu; https://pytorch.org/tutorials/intermediate/pinmem_nonblock.html
"""

import numpy as np

from ..core import geometry
from ..core import layout as layouts
from ..core.device import CPU, WITH_INDEX, as_device
from ..dispatch import keys as K
from ..dispatch.operator import registry
from ..memory.runtime import runtime_of
from ..memory.storage import UntypedStorage
from ..memory.streams import ACCELERATORS, accelerator_type, current_stream_id, synchronize_current_stream
from ..tensor import Tensor, array_of, from_geometry, meta_tensor, storage_of, stride_of
from .convert import cast, check_fits, convert, copied_number, is_same_view
from .declare import publish
from .fake import Fake
from .launch import device_kernel, host_view, inplace_kernel, spans_of, tensor_like
from .staging import download_staged, upload_staged

_to_copy, _copy = registry["_to_copy"], registry["copy_"]
_cpu_to_copy = _to_copy.own_kernel(K.CPU)
_convert_on_device, _copy_on_device = device_kernel(_to_copy), inplace_kernel(_copy)


# ---- to(device) --------------------------------------------------------------------------------------------


def to_copy_from_host(keys, self, dtype, device, memory_format, non_blocking=False):
    """`_to_copy` of a CPU tensor: uploads where an accelerator is asked for."""
    if device is None or device.type not in ACCELERATORS:
        return _cpu_to_copy(keys, self, dtype, device, memory_format)
    runtime_of(device.type)
    new = tensor_like(Fake(self._shape, dtype, wanted_stride(self, memory_format)), device)
    upload(new, self, non_blocking)
    return new


def to_copy_from_device(keys, self, dtype, device, memory_format, non_blocking=False):
    """`_to_copy` of an accelerator's tensor: converts there, and downloads if the CPU is asked for."""
    if device is None or device == self._device:
        return _convert_on_device(keys, self, dtype, None, memory_format)
    stride = wanted_stride(self, memory_format)
    if device.type == "meta":
        return meta_tensor(self._shape, dtype, stride)
    if device.type != "cpu":
        return to_copy_from_host(
            keys, to_copy_from_device(keys, self, dtype, CPU, memory_format), dtype, device, memory_format
        )
    if self._dtype is not dtype or stride_of(self) != stride:
        self = _convert_on_device(keys, self, dtype, None, memory_format)
    new = host_tensor(self._shape, stride, dtype, non_blocking)
    download(new, self, non_blocking)
    return new


def wanted_stride(t, memory_format):
    return layouts.strides_in(memory_format, t._shape, stride_of(t))


def host_tensor(shape, stride, dtype, is_pinned):
    """An uninitialised CPU tensor."""
    storage = host_storage(geometry.storage_extent(shape, stride, 0) * dtype.itemsize, is_pinned)
    return from_geometry(storage, tuple(shape), stride, 0, dtype)


def host_storage(nbytes, is_pinned):
    storage = UntypedStorage(pinned_bytes(nbytes) if is_pinned else np.empty(nbytes, np.uint8), CPU)
    storage.is_pinned_memory = is_pinned
    return storage


def pinned_bytes(nbytes):
    """Pinned memory of the accelerator that is there."""
    return runtime_of(accelerator_type()).pinned(nbytes)


# ---- copy_ -------------------------------------------------------------------------------------------------


def copy_with_device(keys, self, src, non_blocking=False):
    """`copy_` where one side, or both, is on an accelerator."""
    if not isinstance(src, Tensor) or self._device == src._device:
        if src is self or isinstance(src, Tensor) and is_same_view(self, src):
            return self
        check_fits(self._shape, src._shape if isinstance(src, Tensor) else np.shape(copied_number(src)))
        return _copy_on_device(keys, self, src, non_blocking)
    if src._shape != self._shape:
        check_fits(self._shape, src._shape)
    if self.is_cpu:
        download(self, src, non_blocking)
    else:
        upload(self, src, non_blocking)
    return self


# ---- the copies --------------------------------------------------------------------------------------------


def upload(target, source, non_blocking):
    """Copy a CPU tensor into a device tensor, converting on the host if the dtypes differ."""
    is_async = is_pinned(source) and source._dtype is target._dtype
    if target._storage.host is None:
        upload_staged(target, source, is_async and non_blocking)
        return
    if source._dtype is target._dtype:
        array = array_of(source) if is_async else array_of(source).copy()
    else:
        array = cast(array_of(source), target._dtype)
    view = host_view(target)

    def work():
        np.copyto(array_of(view), array)

    kind = "pinned" if is_async else "pageable"
    launch_copy(f"memcpy HtoD ({kind})", target._device, work, writes=[target])
    if not (is_async and non_blocking):
        synchronize_current_stream(target._device.type)


def download(target, source, non_blocking):
    """Copy a device tensor into a CPU tensor, converting as it arrives."""
    if source._storage.host is None:
        download_staged(target, source, is_pinned(target) and non_blocking)
        return
    view, array, dtype = host_view(source), array_of(target), target._dtype

    def work():
        found = array_of(view)
        np.copyto(array, found if source_dtype is dtype else cast(found, dtype), casting="unsafe")

    source_dtype, is_async = source._dtype, is_pinned(target)
    kind = "pinned" if is_async else "pageable"
    launch_copy(f"memcpy DtoH ({kind})", source._device, work, reads=[source])
    if not (is_async and non_blocking):
        synchronize_current_stream(source._device.type)


def launch_copy(name, device, work, reads=(), writes=()):
    runtime_of(device.type).launch(
        name, current_stream_id(device.type), work, spans_of(reads), spans_of(writes), is_copy=True
    )


_to_copy.register(K.CPU, to_copy_from_host)
_to_copy.register(K.SIM, to_copy_from_device)
_copy.register(K.SIM, copy_with_device)
_to_copy.register(K.CUDA, to_copy_from_device)
_copy.register(K.CUDA, copy_with_device)


# ---- pinned memory -----------------------------------------------------------------------------------------


def pin_memory(self, device=None):
    """This tensor in pinned memory, from and to which accelerators copy without the host: itself if it is
    there already.

    On sim pinned memory is ordinary memory with a mark. RuntimeError for tensors that are not on the CPU.
    """
    if not self.is_cpu:
        raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
    if is_pinned(self):
        return self
    stride = geometry.preserve_format_strides(self._shape, stride_of(self))
    return host_tensor(self._shape, stride, self._dtype, True).copy_(self)


def is_pinned(self, device=None):
    """Whether the tensor is in pinned memory."""
    return self._storage is not None and self._storage.is_pinned_memory


def record_stream(self, stream):
    """Keep this tensor's memory, once it has died, from being used again before the work that `stream` has by
    then is done.

    For tensors that are used in another stream than the one they were allocated in. It orders nothing else.
    """
    if self.is_cpu:
        raise NotImplementedError("Could not run 'aten::record_stream' with arguments from the 'CPU' backend.")
    storage_of(self).record_stream(stream)


def to_accelerator(device_type):
    """The method `t.sim()`: a copy on that device, the tensor itself if it is there already."""

    def method(self, device=None, non_blocking=False, memory_format=layouts.preserve_format):
        target = WITH_INDEX[device_type] if device is None else as_device(device)
        return convert(self, self._dtype, target, False, memory_format, non_blocking)

    method.__name__ = method.__qualname__ = device_type
    method.__doc__ = f"This tensor on the device {device_type}: itself if it is there already."
    return publish(device_type, method, ("Tensor",))


to_accelerator("sim")
for _function in (pin_memory, is_pinned, record_stream):
    publish(_function.__name__, _function, ("Tensor",))
