"""Operators on `cuda`: the kernels of kernels/cuda where there is one, else the CPU's kernel on copies.

    launch(op, ...) of ops/launch.py → launch_on_cuda
      a kernel of our own takes the operator and these dtypes  → it goes into the current stream
      no kernel does                                           → the host waits, copies, computes, copies back

The second way is slow, and always right (PyTorch has it for Apple's GPUs, PYTORCH_ENABLE_MPS_FALLBACK). The
observer's topic "stream" tells the two apart: the name of such a launch ends in " on the host".
"""

import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..dispatch import keys as K
from ..dispatch.operator import makers
from ..kernels.pointwise import COMPILED_DTYPES
from ..memory.runtime import runtime_of
from ..memory.streams import current_stream_id
from ..tensor import Tensor, array_of, from_array, from_geometry
from .activation import GELU, GELU_BACKWARD
from .elementwise import compute_dtype, scalar_of
from .fake import Fake
from .launch import also_written, device_kernel, each_tensor, launchers, tensor_like
from .random import generator_of_launch
from .reduction import dims_of
from .staging import send, twin_of, uninitialised_twin

native = {}  # name of an operator -> function(launch, outputs, args), False if these arguments are not for it
FLOATS = (dt.float32, dt.float64)


def launch_on_cuda(op, cpu, device, args, outputs=(), written=()):
    """What `ops.launch.launch` does on this device."""
    runtime, stream_id = runtime_of(device.type), current_stream_id(device.type)
    kernel = pointwise if op.info is not None and op.info.pointwise else native.get(op.name)
    if kernel is not None:
        launch = Launching(op, device, runtime, stream_id)
        if kernel(launch, each_tensor(outputs), args) is not False:
            return
    runtime.enqueue(f"{op.name} on the host", stream_id, lambda stream: None)
    on_the_host(op, cpu, device, args, each_tensor(outputs), each_tensor(written))


class Launching:
    """An operator on its way into a stream: what kernels of tensors need."""

    def __init__(self, op, device, runtime, stream_id):
        self.op, self.device, self.runtime, self.stream_id = op, device, runtime, stream_id

    def enqueue(self, work):
        """Call `work(stream)` with Numba's stream."""
        self.runtime.enqueue(self.op.name, self.stream_id, work)

    def strided(self, t):
        """What a kernel gets of a tensor."""
        from ..kernels.cuda.arrays import Strided

        return Strided(self.flat(t), t._shape, t._stride)

    def flat(self, t):
        """The memory that a tensor spans, as a flat device array; of a contiguous one, its elements."""
        size = geometry.storage_extent(t._shape, t._stride, 0)
        address = t._storage.address() + t._offset * t._dtype.itemsize
        return self.runtime.array(address, size, t._dtype.numpy)

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
        from ..kernels.cuda import pointwise as kernels

        arrays = [self.strided(each) if isinstance(each, Tensor) else each for each in operands]
        target = self.strided(out)
        self.enqueue(lambda stream: kernels.run(function, target, arrays, stream, dtype.numpy))


def takes(*tensors):
    """Whether kernels have the dtypes of these tensors."""
    return all(t._dtype.numpy in COMPILED_DTYPES for t in tensors)


def kernel_for(*names):
    """Declare a function as the kernel of operators on cuda."""

    def declare(function):
        for name in names:
            native[name] = function
        return function

    return declare


# ---- the host's way ----------------------------------------------------------------------------------------


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


# ---- one element at a time ---------------------------------------------------------------------------------


def same(x):
    return x


def add(x, y):
    return x + y


def scaled(x, factor):
    return x * factor


def pointwise(launch, outputs, args):
    """Any pointwise operator, from the one-element function of its declaration."""
    kernels, kind = launch.op.info.pointwise
    out = outputs[0] if outputs else args[0]
    kernel, args = kernels.choose(args)
    if any(a is None for a in args):
        return False  # clamp(x, None, 1): the declaration's function knows nothing of operands left out
    dtype = compute_dtype(args, kind)
    on_device = [a for a in args if isinstance(a, Tensor) and not a.is_cpu]
    if not on_device or dtype.numpy not in COMPILED_DTYPES or not takes(out, *on_device):
        return False
    if not can_translate(kernel.scalar, dtype):
        return False
    operands = [operand(a, dtype, check) for a, check in zip(args, kernels.parameters)]
    launch.compute(kernel, out, operands, dtype)


_translatable = {}


def can_translate(scalar, dtype):
    """Whether a one-element function has a form for CUDA: a few call functions that only the CPU has."""
    key = scalar, dtype
    if key not in _translatable:
        from ..kernels.cuda.source import DeviceTranslator

        try:
            DeviceTranslator(dtype.numpy).add(scalar)
            _translatable[key] = True
        except TypeError:
            _translatable[key] = False
    return _translatable[key]


def operand(a, dtype, check):
    """An operand for a kernel: a tensor of the device, or a NumPy scalar."""
    if not isinstance(a, Tensor):
        return np.asarray(check(dtype, a) if check is not None else scalar_of(a, dtype))[()]
    return a if not a.is_cpu else array_of(a).astype(dtype.numpy)[()]


@kernel_for("_to_copy", "clone", "contiguous")
def copy(launch, outputs, args):
    if not takes(outputs[0], args[0]):
        return False
    launch.compute(same, outputs[0], [args[0]], outputs[0]._dtype)


@kernel_for("copy_")
def copy_into(launch, outputs, args):
    target, source = args[:2]
    if not isinstance(source, Tensor) or source.is_cpu or not takes(target, source):
        return False
    launch.compute(same, target, [source], target._dtype)


@kernel_for("zero_", "fill_")
def fill(launch, outputs, args):
    target, value = args[0], args[1] if len(args) > 1 else 0
    if isinstance(value, Tensor) or not takes(target):
        return False
    launch.compute(same, target, [scalar_of(value, target._dtype)], target._dtype)


@kernel_for("zeros", "ones", "full")
def filled(launch, outputs, args):
    out, name = outputs[0], launch.op.name
    value = args[1] if name == "full" else int(name == "ones")
    if not takes(out) or isinstance(value, Tensor):
        return False
    launch.compute(same, out, [scalar_of(value, out._dtype)], out._dtype)


def choose(condition, x, y):
    return x if condition else y


@kernel_for("where")
def where(launch, outputs, args):
    if any(not isinstance(a, Tensor) or a.is_cpu for a in args) or not takes(outputs[0], *args):
        return False
    launch.compute(choose, outputs[0], args, outputs[0]._dtype)


@kernel_for("gelu", "gelu_backward")
def gelu(launch, outputs, args):
    *tensors, approximate = args
    if not are_floats(*tensors):
        return False
    forms = GELU_BACKWARD if launch.op.name == "gelu_backward" else GELU
    launch.compute(forms[approximate], outputs[0], tensors, tensors[0]._dtype)


# ---- over dimensions ---------------------------------------------------------------------------------------


def as_rows(launch, t, dims):
    """(tensor, outer, count, inner): contiguous, such that the middle of the three holds what is folded."""
    dims = sorted(dims)
    shape = t._shape
    if dims and dims != list(range(dims[0], dims[-1] + 1)):
        kept = [d for d in range(len(shape)) if d not in dims]
        order = [*kept, *dims]
        t = from_geometry(
            t._storage, [shape[d] for d in order], [t._stride[d] for d in order], t._offset, t._dtype
        )
        dims, shape = list(range(len(kept), len(shape))), t._shape
    first, end = (dims[0], dims[-1] + 1) if dims else (0, 0)
    sizes = [geometry.numel(part) for part in (shape[:first], shape[first:end], shape[end:])]
    return launch.contiguous(t), *sizes


def folded(launch, name, out, t, dims):
    from ..kernels.cuda import reduce

    if not takes(out, t) or not out.numel():
        return False
    rows, outer, count, inner = as_rows(launch, t, dims)
    target, source, dtype = launch.flat(out), launch.flat(rows), out._dtype

    def scratch(size):
        return launch.flat(launch.empty((size,), dtype))

    launch.enqueue(lambda stream: reduce.run(name, target, source, outer, count, inner, scratch, stream))


def dims_asked(t, dim):
    """The dimensions of a `dim` argument: None and () are all of them."""
    dims = dims_of(dim, len(t._shape))
    return range(len(t._shape)) if dims is None or dims == () else dims


@kernel_for("sum", "prod")
def fold_all(launch, outputs, args):
    return folded(launch, launch.op.name, outputs[0], args[0], range(len(args[0]._shape)))


@kernel_for("sum_dim", "amax", "amin")
def fold_dims(launch, outputs, args):
    return folded(
        launch, launch.op.name.removesuffix("_dim"), outputs[0], args[0], dims_asked(args[0], args[1])
    )


@kernel_for("mean", "mean_dim")
def mean(launch, outputs, args):
    out, t = outputs[0], args[0]
    dims = range(len(t._shape)) if launch.op.name == "mean" else dims_asked(t, args[1])
    count = geometry.numel([t._shape[d] for d in dims])
    if not count or folded(launch, "sum", out, t, dims) is False:
        return False
    launch.compute(scaled, out, [out, scalar_of(1 / count, out._dtype)], out._dtype)


@kernel_for("_softmax", "_log_softmax")
def softmax(launch, outputs, args):
    from ..kernels.cuda import softmax as kernels

    out, t, is_log = outputs[0], args[0], launch.op.name == "_log_softmax"
    if t._dtype not in FLOATS or out._dtype is not t._dtype or not t.numel() or not out.is_contiguous():
        return False
    rows, *sizes = as_rows(launch, t, [geometry.wrap_dim(args[1], max(len(t._shape), 1))] if t._shape else [])
    target, source = launch.flat(out), launch.flat(rows)
    launch.enqueue(lambda stream: kernels.forward(target, source, *sizes, is_log, stream))


@kernel_for("_softmax_backward_data", "_log_softmax_backward_data")
def softmax_backward(launch, outputs, args):
    from ..kernels.cuda import softmax as kernels

    out, (grad, result, dim), is_log = outputs[0], args[:3], "log" in launch.op.name
    if (
        result._dtype not in FLOATS
        or grad._dtype is not result._dtype
        or not result._shape
        or not result.numel()
    ):
        return False
    rows, *sizes = as_rows(launch, result, [geometry.wrap_dim(dim, len(result._shape))])
    target, slopes, source = launch.flat(out), launch.flat(launch.contiguous(grad)), launch.flat(rows)
    launch.enqueue(lambda stream: kernels.backward(target, slopes, source, *sizes, is_log, stream))


@kernel_for("native_layer_norm")
def layer_norm(launch, outputs, args):
    from ..kernels.cuda import normalization

    (out, mean, rstd), (t, shape, weight, bias, eps) = outputs, args
    if not are_floats(t, weight, bias) or not t.numel():
        return False
    count = geometry.numel(shape)
    rows = t.numel() // count
    weight, bias = [
        filled_unless_given(launch, given, count, value, t._dtype)
        for given, value in ((weight, 1), (bias, 0))
    ]
    source, *held = [launch.flat(launch.contiguous(each)) for each in (t, mean, rstd, weight, bias)]
    launch.enqueue(lambda stream: normalization.row_statistics(*held[:2], source, rows, count, stream))
    launch.compute(reciprocal_deviation, rstd, [rstd, scalar_of(eps, t._dtype)], t._dtype)
    target = launch.flat(out)
    launch.enqueue(lambda stream: normalization.normalize_rows(target, source, *held, rows, count, stream))


@kernel_for("native_layer_norm_backward")
def layer_norm_backward(launch, outputs, args):
    from ..kernels.cuda import normalization

    grad, t, shape, weight, mean, rstd = args
    if not are_floats(t, grad, weight) or not t.numel():
        return False
    count = geometry.numel(shape)
    weight = filled_unless_given(launch, weight, count, 1, t._dtype)
    arrays = [launch.flat(launch.contiguous(each)) for each in (*outputs, grad, t, mean, rstd, weight)]
    rows = t.numel() // count
    launch.enqueue(lambda stream: normalization.rows_gradient(*arrays, rows, count, stream))


def towards(running, found, share):
    return running + share * (found - running)


@kernel_for("native_batch_norm")
def batch_norm(launch, outputs, args):
    """In training, as PyTorch does: the batch's statistics, which the running ones follow a little."""
    from ..kernels.cuda import normalization

    (out, mean, rstd), (t, weight, bias, running_mean, running_var, training, momentum, eps) = outputs, args
    given = [each for each in args[1:5] if each is not None]
    sizes = t._shape[0], t._shape[1], geometry.numel(t._shape[2:])
    if not training or not are_floats(t, mean, *given) or not out.is_contiguous() or sizes[0] * sizes[2] < 2:
        return False
    dtype, count = t._dtype, sizes[0] * sizes[2]
    weight, bias = [
        filled_unless_given(launch, each, sizes[1], value, dtype) for each, value in ((weight, 1), (bias, 0))
    ]
    target, source, *held = [
        launch.flat(launch.contiguous(each)) for each in (out, t, mean, rstd, weight, bias)
    ]
    launch.enqueue(lambda stream: normalization.channel_statistics(*held[:2], source, *sizes, stream))
    if running_mean is not None:
        follow(launch, running_mean, mean, momentum, 1)
        follow(launch, running_var, rstd, momentum, count / (count - 1))
    launch.compute(reciprocal_deviation, rstd, [rstd, scalar_of(eps, dtype)], dtype)
    launch.enqueue(lambda stream: normalization.normalize_channels(target, source, *held, *sizes, stream))


def follow(launch, running, found, momentum, factor):
    """running += momentum * (factor * found - running)."""
    dtype, corrected = running._dtype, launch.empty(found._shape, running._dtype)
    launch.compute(scaled, corrected, [found, scalar_of(factor, dtype)], dtype)
    launch.compute(towards, running, [running, corrected, scalar_of(momentum, dtype)], dtype)


def reciprocal_deviation(variance, eps):
    return 1 / np.sqrt(variance + eps)


def are_floats(first, *others):
    return first._dtype in FLOATS and all(t is None or t._dtype is first._dtype for t in others)


def filled_unless_given(launch, t, size, value, dtype):
    if t is not None:
        return t
    made = launch.empty((size,), dtype)
    launch.compute(same, made, [scalar_of(value, dtype)], dtype)
    return made


# ---- products ----------------------------------------------------------------------------------------------


def product(launch, out, a, b):
    """Put out = a @ b into the stream, for two matrices or two batches of them, of any strides."""
    from ..kernels.cuda import matmul

    if a._dtype is not b._dtype or out._dtype is not a._dtype or not takes(a) or a._dtype is dt.bool:
        return False
    target, left, right = [batched(launch.strided(t)) for t in (out, a, b)]
    launch.enqueue(lambda stream: matmul.run(target, left, right, stream=stream))


def batched(strided):
    from ..kernels.cuda.arrays import Strided

    missing = 3 - len(strided.shape)
    return Strided(strided.memory, (1,) * missing + strided.shape, (0,) * missing + strided.strides)


@kernel_for("mm", "bmm")
def matrix_product(launch, outputs, args):
    return product(launch, outputs[0], *args) if outputs[0].is_contiguous() else False


@kernel_for("addmm")
def sum_and_product(launch, outputs, args):
    bias, a, b, beta, alpha = args
    out = outputs[0]
    plain = beta == 1 and alpha == 1 and out.is_contiguous() and bias._dtype is out._dtype and not bias.is_cpu
    if not plain or product(launch, out, a, b) is False:
        return False
    launch.compute(add, out, [out, bias], out._dtype)


@kernel_for("mv")
def matrix_vector_product(launch, outputs, args):
    out, a, v = outputs[0], *args
    column = from_geometry(v._storage, (*v._shape, 1), (*v._stride, 1), v._offset, v._dtype)
    result = from_geometry(out._storage, (*out._shape, 1), (*out._stride, 1), out._offset, out._dtype)
    return product(launch, result, a, column)


# ---- picking -----------------------------------------------------------------------------------------------


@kernel_for("gather")
def gather(launch, outputs, args):
    from ..kernels.cuda import picking

    t, dim, index = args[:3]
    if not takes(t) or not t._shape or index._dtype is not dt.int64 or len(index._shape) != len(t._shape):
        return False
    arrays = [launch.strided(each) for each in (index, outputs[0], t)]
    dim, bad = geometry.wrap_dim(dim, len(t._shape)), launch.runtime.bad_index
    launch.enqueue(lambda stream: picking.run("gather", *arrays, dim, bad, stream))


@kernel_for("embedding")
def embedding(launch, outputs, args):
    """gather along the rows, with an index that is the same for all columns."""
    from ..kernels.cuda import picking
    from ..kernels.cuda.arrays import Strided

    (weight, indices), out = args[:2], outputs[0]
    if not takes(weight) or indices._dtype is not dt.int64 or not out.numel() or not weight.numel():
        return False
    shape, columns = (indices.numel(), weight._shape[1]), weight._shape[1]
    index = Strided(launch.flat(launch.contiguous(indices)), shape, (1, 0))
    target, source, bad = (
        Strided(launch.flat(out), shape, (columns, 1)),
        launch.strided(weight),
        launch.runtime.bad_index,
    )
    launch.enqueue(lambda stream: picking.run("gather", index, target, source, 0, bad, stream))


@kernel_for("scatter_add", "scatter_add_")
def scatter_add(launch, outputs, args):
    from ..kernels.cuda import picking

    t, dim, index, source = args[:4]
    target = outputs[0] if outputs else t
    if (
        t._dtype not in FLOATS
        or not t._shape
        or index._dtype is not dt.int64
        or source._dtype is not t._dtype
    ):
        return False
    if outputs:
        launch.compute(same, target, [t], t._dtype)
    arrays = [launch.strided(each) for each in (index, source, target)]
    dim, bad = geometry.wrap_dim(dim, len(t._shape)), launch.runtime.bad_index
    launch.enqueue(lambda stream: picking.run("scatter_add", *arrays, dim, bad, stream))


# ---- optimizers --------------------------------------------------------------------------------------------


@kernel_for("_fused_sgd_", "_fused_adam_", "_fused_adamw_", "_fused_adagrad_")
def fused_step(launch, outputs, args):
    from ..kernels.cuda import optim

    update, params, grads, states, numbers = args
    rows = list(zip(params, grads, *states))
    if not all(t._dtype in FLOATS and t.is_contiguous() for row in rows for t in row):
        return False
    for place, row in enumerate(rows):
        arrays = [launch.flat(t) for t in row]
        own = [number[place] if isinstance(number, list) else number for number in numbers]
        launch.enqueue(lambda stream, arrays=arrays, own=own: optim.run(update, arrays, own, stream))


launchers["cuda"] = launch_on_cuda
makers[K.CUDA] = device_kernel
