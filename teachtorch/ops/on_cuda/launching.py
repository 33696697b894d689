"""An operator on its way into a stream of `cuda`: what all kernels of tensors use."""

import numpy as np

from ...core import dtype as dt
from ...core import geometry
from ...dispatch import keys as K
from ...dispatch.operator import registry
from ...kernels.cuda import pointwise as kernels
from ...kernels.cuda.arrays import Strided
from ...kernels.pointwise import COMPILED_DTYPES
from ...memory.runtime import runtime_of
from ...memory.streams import current_stream_id
from ...tensor import Tensor, array_of, from_array, from_geometry
from ..elementwise import scalar_of
from ..fake import Fake
from ..launch import also_written, each_tensor, tensor_like
from ..generators import generator_of_launch
from ..staging import send, twin_of, uninitialised_twin

native = {}  # name of an operator -> function(launch, outputs, args), False if these arguments are not for it
FLOATS = (dt.float32, dt.float64)


def launch_on_cuda(op, cpu, device, args, outputs=(), written=()):
    """What `ops.launch.launch` does on this device."""
    runtime, stream_id = runtime_of(device.type), current_stream_id(device.type)
    kernel = kernel_of(op)
    if kernel is not None:
        launch = Launching(op, device, runtime, stream_id)
        if kernel(launch, each_tensor(outputs), args) is not False:
            return
    runtime.enqueue(f"{op.name} on the host", stream_id, lambda stream: None)
    on_the_host(op, cpu, device, args, each_tensor(outputs), each_tensor(written))


def kernel_of(op):
    """The function that takes an operator to its kernel on the GPU, or None."""
    found = native.get(op.name)
    return native["pointwise"] if found is None and getattr(op.info, "pointwise", False) else found


def operators_with_kernels():
    """The names of the operators that have a kernel on the GPU, sorted.

    One of them still goes over the host where its kernel does not take the arguments: see the functions of
    this package for which those are.
    """
    return sorted([name for name, op in registry.items() if kernel_of(op) is not None])


class Launching:
    """An operator on its way into a stream: what kernels of tensors need."""

    def __init__(self, op, device, runtime, stream_id):
        self.op, self.device, self.runtime, self.stream_id = op, device, runtime, stream_id
        self.held = []

    def enqueue(self, work):
        """Call `work(stream)` with Numba's stream."""
        self.runtime.enqueue(self.op.name, self.stream_id, work)

    def strided(self, t):
        """What a kernel gets of a tensor."""
        return Strided(self.flat(t), t._shape, t._stride)

    def flat(self, t):
        """The memory that a tensor spans, as a flat device array; of a contiguous one, its elements."""
        size = geometry.storage_extent(t._shape, t._stride, 0)
        address = t._storage.address() + t._offset * t._dtype.itemsize
        return self.runtime.flat(address, size, t._dtype.numpy)

    def empty(self, shape, dtype):
        """A tensor of the device that nobody has filled. It may die once its kernels are in the stream."""
        return tensor_like(Fake(tuple(shape), dtype), self.device)

    def contiguous(self, t, dtype=None):
        """The tensor, or a contiguous copy, in a dtype (None: its own)."""
        dtype = dtype or t._dtype
        if t._dtype is dtype and t.is_contiguous():
            return t
        new = self.empty(t._shape, dtype)
        self.compute(same, new, [t], dtype)
        return new

    def compute(self, function, out, operands, dtype):
        """Put a pointwise kernel into the stream; operands are tensors and NumPy scalars."""
        arrays = [self.strided(each) if isinstance(each, Tensor) else each for each in operands]
        target = self.strided(out)
        self.enqueue(lambda stream: kernels.run(function, target, arrays, stream, dtype.numpy))

    def scratch(self, size, dtype):
        """A flat device array of a NumPy dtype for what kernels find on their way, kept until all are launched."""
        self.held.append(self.empty((size,), dt.from_numpy(dtype)))
        return self.flat(self.held[-1])

    def fill(self, t, value):
        """Put a number everywhere into a tensor."""
        self.compute(same, t, [scalar_of(value, t._dtype)], t._dtype)

    def copy(self, target, source):
        """Copy a tensor into another one of its shape, converting, whatever their strides."""
        self.compute(same, target, [source], target._dtype)


def viewed(t, shape, stride, offset=None):
    """A tensor of the same memory with another geometry."""
    offset = t._offset if offset is None else offset
    return from_geometry(t._storage, tuple(shape), tuple(stride), offset, t._dtype)


def geometry_of(t):
    return t._shape, t._stride, t._offset


def same(x):
    return x


def takes(*tensors):
    """Whether kernels have the dtypes of these tensors."""
    return all(t._dtype.numpy in COMPILED_DTYPES for t in tensors)


def are_floats(first, *others):
    """Whether all tensors are of one floating dtype that kernels have; None is left out."""
    return first._dtype in FLOATS and all(t is None or t._dtype is first._dtype for t in others)


def kernel_for(*names):
    """Declare a function as the kernel of operators on cuda."""

    def declare(function):
        for name in names:
            native[name] = function
        return function

    return declare


# ---- the host's way ----------------------------------------------------------------------------------------


def dense_kernel_for(*names):
    """`kernel_for` a function that fills contiguous results only; others are filled by a copy of those."""

    def declare(function):
        def run(launch, outputs, args):
            dense = [t if t.is_contiguous() else launch.empty(t._shape, t._dtype) for t in outputs]
            if function(launch, dense, args) is False:
                return False
            for target, source in zip(outputs, dense):
                if target is not source:
                    launch.copy(target, source)

        kernel_for(*names)(run)
        return function

    return declare


def on_the_host(op, cpu, device, args, outputs, written):
    """Run the CPU kernel on copies of the arguments, and copy what it made or changed to the device."""
    twins = {}
    host_args = [on_host(a, twins) for a in args]
    if op.info is not None and "generator" in op.info.signature.names:
        place = op.info.signature.names.index("generator")
        host_args[place] = generator_of_launch(args[place], device)
    found = cpu(K.CPU, *host_args)
    for t, result in zip(outputs, each_tensor(found)):
        twin = uninitialised_twin(t)
        np.copyto(array_of(twin), array_of(result), casting="unsafe")
        send(t, twin)
    for t in changed(op, args, written):
        send(t, twins[id(t)])


def changed(op, args, written):
    return [t for t in [*written, *also_written(op, args)] if t.numel()]


def on_host(a, twins):
    """An argument as the CPU's kernel takes it; `twins` remembers which copy is whose."""
    if isinstance(a, Tensor):
        if a.is_cpu:
            return from_array(array_of(a).copy())
        if id(a) not in twins:
            twins[id(a)] = twin_of(a)
        return twins[id(a)]
    if a.__class__ in (list, tuple):
        return a.__class__([on_host(b, twins) for b in a])
    return a
