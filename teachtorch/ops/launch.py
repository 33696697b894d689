"""How every operator runs on an accelerator: one mechanism, from its declaration.

    check the devices → the fake rule says what the results look like → allocate them on the device
    → put the kernel into the current stream → return

so that the host is away before the kernel has begun (paper section 5.2). Operators without a fake rule, whose
results' shapes depend on the data (nonzero, masked_select, unique), have to wait for the device.

`sim` runs the CPU kernel in the stream's thread. A device whose memory the host cannot see puts a function of its own
into `launchers` (`cuda`: ops/on_cuda/).
"""

from operator import index

from ..core import geometry, observer, settings
from ..core.device import CPU
from ..core.dtype import dtype
from ..core.layout import memory_format
from ..dispatch import keys as K
from ..dispatch.operator import makers
from ..dispatch.state import set_grad_mode, state
from ..kernels.parallel import stay_on_this_thread
from ..kernels.strided import offer_memory
from ..memory.device_storage import DeviceStorage
from ..memory.launch import at_start_of_device_threads
from ..memory.runtime import runtime_of
from ..memory.sim import runtime as _sim  # noqa: F401  (makes the device known)
from ..memory.streams import current_stream_id, synchronize_current_stream
from ..tensor import Tensor, array_of, from_array, from_geometry
from .declare import results_type
from .elementwise import check_result, refuse_any_overlap, refuse_overlap, refuse_partial_overlap, those_of_many
from .fake import Fake
from .generators import generator_of_launch

# Operators that take index tensors of the CPU beside a tensor on an accelerator, as PyTorch's do.
TAKE_CPU_INDICES = ("index", "index_put", "index_put_", "index_backward")
# In-place operators that write to tensors whose elements share memory, or read what they write.
MAY_OVERLAP = ("fill_", "zero_", "index_put_", "masked_fill_", "index_fill_")
# In-place operators that do not look at what they overwrite; those that draw random numbers do not either.
OVERWRITES = ("fill_", "zero_", "copy_")
# Operators that change arguments besides the first: the places, and the place of the flag that says so.
ALSO_WRITES = {"native_batch_norm": ((3, 4), 5)}


# ---- the three kinds of kernel -----------------------------------------------------------------------------


def device_kernel(op):
    """The kernel of an operator under an accelerator's key; None if it has no CPU kernel to run."""
    if K.CPU not in op.kernels or op.info is None:
        return None
    if op.info.kind == "factory":
        return factory_kernel(op)
    if op.info.kind == "in-place" or op.info.name != op.name:
        return inplace_kernel(op)
    return waiting_kernel(op) if op.info.fake is None else functional_kernel(op)


def functional_kernel(op):
    """New results, allocated before the kernel has run."""
    cpu, results, fake = op.own_kernel(K.CPU), results_type(op.name, op.info.outputs), op.info.fake
    plan_of = remembering(lambda args: (device_of(op, args), layouts_of(fake(*args))))

    def kernel(keys, *args):
        device, layouts = plan_of(args)
        made = tensors_like(layouts, device, results)
        launch(op, cpu, device, args, outputs=made)
        return made

    return kernel


def inplace_kernel(op):
    """The first argument changes; what PyTorch refuses is refused here, before the launch."""
    cpu = op.own_kernel(K.CPU)
    checked = remembering(lambda args: checked_change(op, args))

    def kernel(keys, *args):
        self = args[0]
        shares_memory = any([a._storage is self._storage for a in args[1:] if isinstance(a, Tensor)])
        device = checked_change(op, args) if shares_memory else checked(args)
        launch(op, cpu, device, args, written=args[:1])
        return self

    return kernel


def factory_kernel(op):
    """A new tensor of no tensors; its first argument is the device."""
    fake, cpu = op.info.fake, op.own_kernel(K.CPU)
    is_uninitialised = op.name in ("empty", "empty_strided")

    def kernel(keys, device, *args):
        made = tensor_like(fake(*args), device)
        if not is_uninitialised:
            launch(op, lambda keys, *args: cpu(keys, CPU, *args), device, args, outputs=made)
        return made

    return kernel


def waiting_kernel(op):
    """The result's shape is known once the kernel has run: the host waits for it, and then copies what it found."""
    cpu, results = op.own_kernel(K.CPU), results_type(op.name, op.info.outputs)

    def kernel(keys, *args):
        device, box = device_of(op, args), []
        launch(op, lambda keys, *args: box.append(outcome_of(cpu, keys, args)), device, args)
        synchronize_current_stream(device.type)
        found, error = box[0]
        if error is not None:
            raise error
        return moved(found, device, results)

    return kernel


def outcome_of(cpu, keys, args):
    """(result, None) or (None, error) of a kernel whose launcher waits for it, and so gets the error itself."""
    try:
        return cpu(keys, *args), None
    except Exception as error:
        return None, error


def moved(found, device, results):
    """CPU tensors as tensors of the device."""
    if isinstance(found, Tensor):
        return found.to(device)
    parts = [part.to(device) for part in found]
    return tuple(parts) if results is None else results(*parts)


# ---- before the launch -------------------------------------------------------------------------------------


def device_of(op, args):
    """The accelerator that the arguments are on. RuntimeError, in PyTorch's words, unless they all are.

    0-dim CPU tensors may join: they count as numbers.
    """
    device, strays = None, []
    for position, a in enumerate(args):
        for t in a if a.__class__ in (list, tuple) else (a,):
            if isinstance(t, Tensor):
                if not t.is_cpu:
                    device = device or t._device
                elif t._shape and op.name not in TAKE_CPU_INDICES:
                    strays.append(position)
    if strays or device is None:
        raise RuntimeError(two_devices(op, device, strays))
    if op.name in TAKE_CPU_INDICES and args[0].is_cpu:
        raise RuntimeError("indices should be either on cpu or on the same device as the indexed tensor (cpu)")
    return device


def two_devices(op, device, strays):
    found = f"Expected all tensors to be on the same device, but found at least two devices, {device} and cpu!"
    if op.info is None or op.info.kind == "pointwise":
        return found
    argument = op.info.signature.names[strays[0]] if strays else "self"
    return f"{found} (when checking argument for argument {argument} in method wrapper_{device.type.upper()}_{op.name})"


def checked_change(op, args):
    """The device of an in-place operator. What the kernel would refuse is refused while the caller is there."""
    device, info, self = device_of(op, args), op.info, args[0]
    if self.is_cpu:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {device} and cpu!"
        )
    if op.name not in MAY_OVERLAP:
        refuse_overlap(self)
        refuse_partial_overlap(self, args[1:])
    if info.reads_apart:
        refuse_any_overlap(self, those_of_many(args[1:]))
    found = None if info.fake is None else info.fake(*args)
    if isinstance(found, Fake) and info.kind != "in-place":
        check_result(op.name, self, found.shape, found.dtype)
    return device


# ---- the results -------------------------------------------------------------------------------------------

MOST_REMEMBERED = 1000
REMEMBERED = frozenset([int, float, bool, str, type(None), dtype, memory_format])


def remembering(plan):
    """`plan(args)`, which looks at metadata alone, with a memory: a program asks the same again and again."""
    known = {}

    def remembered(args):
        key = key_of(args)
        found = known.get(key)
        if found is None:
            found = plan(args)
            if key is not None:
                if len(known) >= MOST_REMEMBERED:
                    known.clear()
                known[key] = found
        return found

    return remembered


def key_of(args):
    """The metadata of the arguments that are tensors, the others themselves; None if one is not so simple."""
    key = [settings.default_dtype]
    for a in args:
        kind = a.__class__
        if kind in REMEMBERED or kind is tuple and all([part.__class__ is int for part in a]):
            key += kind, a
        elif isinstance(a, Tensor):
            key += a._shape, a._stride, a._dtype, a._device.type
        else:
            return None
    return tuple(key)


class Layout:
    """A Fake with what an allocation needs: strides that are never None, and how many bytes the storage has."""

    __slots__ = ("shape", "stride", "dtype", "nbytes")

    def __init__(self, shape, stride, dtype, nbytes):
        self.shape, self.stride, self.dtype, self.nbytes = shape, stride, dtype, nbytes


def layout_of(fake):
    shape, itemsize = tuple([index(size) for size in fake.shape]), fake.dtype.itemsize
    stride = geometry.contiguous_strides(shape) if fake.stride is None else fake.stride
    geometry.check_storage_size(shape, itemsize)
    return Layout(shape, stride, fake.dtype, geometry.storage_extent(shape, stride, 0) * itemsize)


def layouts_of(fakes):
    """The Layout of a Fake, or the list of those of several."""
    return layout_of(fakes) if isinstance(fakes, Fake) else [layout_of(fake) for fake in fakes]


def tensors_like(layouts, device, results):
    """Uninitialised tensors of the device: one, a tuple, or a named tuple."""
    if layouts.__class__ is Layout:
        return tensor_like(layouts, device)
    made = [tensor_like(layout, device) for layout in layouts]
    return tuple(made) if results is None else results(*made)


def tensor_like(fake, device):
    """An uninitialised tensor of the device as a Fake or a Layout says."""
    layout = fake if fake.__class__ is Layout else layout_of(fake)
    return from_geometry(DeviceStorage(layout.nbytes, device), layout.shape, layout.stride, 0, layout.dtype)


# ---- the launch --------------------------------------------------------------------------------------------


launchers = {}  # device type -> what launches there instead, with the arguments of `launch`


def launch(op, cpu, device, args, outputs=(), written=()):
    """Put a CPU kernel into the current stream: on the arguments, into `outputs`. `written`: arguments that change."""
    if device.type in launchers:
        launchers[device.type](op, cpu, device, args, outputs, written)
        return
    host_args = [on_host(a) for a in args]
    if op.info is not None and "generator" in op.info.signature.names:
        place = op.info.signature.names.index("generator")
        host_args[place] = generator_of_launch(args[place], device)
    work = Work(cpu, host_args, [host_view(t) for t in each_tensor(outputs)])
    runtime = runtime_of(device.type)
    reads = writes = ()
    if observer.active or runtime.cost.slows_kernels:
        reads, writes = extents(op, args, outputs, written)
    runtime.launch(op.name, current_stream_id(device.type), work, reads, writes)


class Work:
    """A CPU kernel with its arguments, and the memory into which the results go: what the stream calls."""

    __slots__ = ("cpu", "args", "outputs")

    def __init__(self, cpu, args, outputs):
        self.cpu, self.args, self.outputs = cpu, args, outputs

    def __call__(self):
        targets = [array_of(t) for t in self.outputs]
        if len(targets) == 1 and targets[0].flags.c_contiguous:
            offer_memory(targets[0])
        try:
            found = self.cpu(K.CPU, *self.args)
        finally:
            offer_memory(None)
        for target, result in zip(targets, each_tensor(found)):
            if array_of(result) is not target:
                target[...] = array_of(result)


def extents(op, args, outputs, written):
    """The bytes of device memory that a launch reads, and those that it writes, as (address, end)."""
    looked_at = args[1:] if overwrites(op) else args
    changed = [*each_tensor(outputs), *each_tensor(written), *also_written(op, args)]
    return spans_of([t for t in each_tensor(looked_at) if not t.is_cpu]), spans_of(changed)


def on_host(a):
    """An argument as the kernel gets it: a CPU tensor over device memory, or a copy of a CPU tensor as it is now."""
    if isinstance(a, Tensor):
        return from_array(array_of(a).copy()) if a._device is CPU else host_view(a)
    if a.__class__ in (list, tuple):
        return a.__class__([on_host(b) for b in a])
    return a


def host_view(t):
    """A CPU tensor over a device tensor's memory, which outlives changes of the device tensor's geometry."""
    return from_geometry(t._storage.host, t._shape, t._stride, t._offset, t._dtype)


def each_tensor(values):
    """The tensors in an argument list or a result, however nested."""
    if isinstance(values, Tensor):
        return [values]
    if isinstance(values, (list, tuple)):
        return [t for value in values for t in each_tensor(value)]
    return []


MOST_RUNS = 256  # of a strided tensor; of one with more, the bytes between its elements count as its own


def spans_of(tensors):
    """(address, end) of all stretches of memory that device tensors look at."""
    return [span for t in tensors if t.numel() for span in runs_of(t)]


def runs_of(t):
    """(address, end) of each contiguous run of elements of a device tensor, which must have some."""
    itemsize, start = t._dtype.itemsize, t._storage.address() + t._offset * t._dtype.itemsize
    run, outer = 1, sorted([(stride, size) for stride, size in zip(t._stride, t._shape) if size > 1 and stride])
    while outer and outer[0][0] == run:
        run *= outer.pop(0)[1]
    if geometry.numel([size for _, size in outer]) > MOST_RUNS:
        run, outer = geometry.storage_extent(t._shape, t._stride, 0), []
    places = [0]
    for stride, size in outer:
        places = [place + i * stride for place in places for i in range(size)]
    return [(start + place * itemsize, start + (place + run) * itemsize) for place in places]


def overwrites(op):
    if op.name in OVERWRITES:
        return True
    return op.info is not None and op.info.kind == "in-place" and "generator" in op.info.signature.names


def also_written(op, args):
    places, flag = ALSO_WRITES.get(op.name, ((), None))
    return [args[place] for place in places if args[place] is not None and args[flag]]


@at_start_of_device_threads
def prepare():
    """A stream's thread: no graph, no versions, nothing reported as a call of the user's, and loops on this thread."""
    set_grad_mode(False)
    state.excluded |= K.AD_INPLACE_OR_VIEW
    state.is_device_thread = True
    stay_on_this_thread()


makers[K.SIM] = device_kernel
