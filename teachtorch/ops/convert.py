"""Copies and conversions: clone, copy_, fill_, to, contiguous, and the memory formats they may ask for."""
import numpy as np

from ..core import dtype as dt
from ..core import geometry
from ..core import layout as layouts
from ..core.device import CPU, as_device, device
from ..core.layout import check_rank, contiguous_format, is_in, preserve_format, strided, strides_in, suggested
from ..dispatch import keys as K
from ..dispatch.operator import Operator, registry
from ..kernels.pointwise import silently
from ..tensor import Tensor, array_of, entries_of, from_array, meta_tensor, stride_of
from .arguments import PYTHON_DTYPES, as_dtype
from .creation import empty_strided_array
from .declare import (
    LINEAR, composite, describe, fake_tensor, finish, inplace_operator, publish, refuse_overlap, register_inplace_keys,
)
from .elementwise import explain
from .fake import Fake, preserved_like, preserved_stride
from .node_names import name_node
from .pointwise import no_gradient
from .sequences import number_in
from .signature import positional

# ---- copies --------------------------------------------------------------------------------------


def tensor_operator(name, vjp, fake, spaces=("", "Tensor")):
    """Declare an operator by a CPU kernel of tensors, where strides are part of the result."""
    def declare(kernel):
        info = describe(name, "operator", kernel, vjp, LINEAR, fake, False, False)
        op = Operator(name, info)
        op.register(K.CPU, tensor_kernel(positional(kernel, info.signature), fake))
        op.register(K.META, lambda keys, *args: fake_tensor(fake(*args)))
        return finish(op, info, spaces)
    return declare


def tensor_kernel(kernel, fake):
    """The kernel, with PyTorch's error where there is no memory for the result."""
    def cpu(keys, *args):
        try:
            return kernel(*args)
        except (MemoryError, ValueError):
            explain(fake, args)
            raise
    return cpu


def copy_with_strides(t, dtype, stride):
    """A copy of a CPU tensor in fresh memory, with the given dtype and dense strides."""
    array = array_of(t)
    if stride == geometry.contiguous_strides(t._shape):
        return from_array(cast(array, dtype), dtype)
    new = empty_strided_array(t._shape, stride, dtype.numpy)
    if t._dtype.is_floating_point and not dtype.is_floating_point:
        array = cast(array, dtype)
    silently(lambda: np.copyto(new, array, casting="unsafe"))
    made = from_array(new, dtype)
    made._stride = stride
    return made


def cast(array, dtype):
    """A C-contiguous copy in another dtype. Floats that no integer represents become some integer."""
    wanted = dtype.numpy
    if array.dtype is wanted or wanted.kind not in "iu":
        return silently(array.astype, wanted, "C")
    with np.errstate(invalid="ignore"):
        if wanted.itemsize < 8 and array.dtype.kind not in "iub":
            # As PyTorch does: unsigned ones through int64, others through int32, where the lowest number stands for
            # what is too large; then wrapped.
            array = array.astype(np.int64 if wanted.kind == "u" else np.int32)
        return array.astype(wanted, order="C")


def fake_clone(self, memory_format=None):
    return Fake(self._shape, self._dtype, strides_in(
        memory_format or preserve_format, self._shape, stride_of(self)))


@tensor_operator("clone", vjp={"self": lambda grad: grad}, fake=fake_clone)
def clone(self, *, memory_format=None):
    """A copy in fresh memory that gradients flow through.

    `memory_format`: preserve_format (the default: dense, in the stride order of the original) or a fixed one.
    """
    return copy_with_strides(self, self._dtype, strides_in(memory_format or preserve_format, self._shape,
                                                           stride_of(self)))


@composite("contiguous", spaces=("Tensor",))
def contiguous(self, memory_format=contiguous_format):
    """This tensor if its elements lie in the order of the format, else a copy in that order."""
    if entries_of(self) is not None:
        raise RuntimeError("unsupported memory format option Contiguous")
    if memory_format is contiguous_format or memory_format is preserve_format:
        if geometry.is_contiguous(self._shape, stride_of(self)):
            return self
        if memory_format is preserve_format:
            raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    elif is_in(memory_format, self._shape, stride_of(self)):
        return self
    else:
        check_rank(memory_format, self._shape)
    return self.clone(memory_format=memory_format)


def is_contiguous(self, memory_format=contiguous_format):
    """Whether the elements lie in memory in the order of the format, one after the other."""
    return entries_of(self) is None and is_in(memory_format, self._shape, stride_of(self))


publish("is_contiguous", is_contiguous, ("Tensor",))


# ---- writing -------------------------------------------------------------------------------------

@inplace_operator("copy_", vjp={"self": no_gradient,
                                "src": lambda grad, src_device: on_device(grad, src_device)})
def copy_(self, src, non_blocking=False):
    """Overwrite this tensor's elements with those of `src`, broadcast and converted."""
    if not isinstance(src, np.ndarray):
        src = np.asarray(copied_number(src))
    if src.shape != self.shape:
        check_fits(self.shape, src.shape)
    if self.dtype.kind in "iu" and src.dtype.kind not in "iub":
        src = cast(src, dt.from_numpy(self.dtype))
    np.copyto(self, src, casting="unsafe")


def copied_number(value):
    if isinstance(value, (bool, int, float, np.generic)):
        return value
    raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(value).__name__}")


def check_fits(shape, source):
    """Refuse a source that does not broadcast to the shape that is written to."""
    together = geometry.broadcast_shapes(shape, source)
    if together != shape:
        raise RuntimeError(
            f"output with shape {list(shape)} doesn't match the broadcast shape {list(together)}")


def copying_kernel(write):
    """Copying a tensor onto itself does nothing, also where its elements share memory."""
    def cpu(keys, self, src, *args):
        if src is self or isinstance(src, Tensor) and is_same_view(self, src):
            return self
        return write(keys, self, src, *args)
    return cpu


def is_same_view(a, b):
    """Whether two tensors look at the same elements in the same way."""
    return (a._storage is not None and a._storage is b._storage and a._offset == b._offset
            and a._shape == b._shape and a._dtype is b._dtype and stride_of(a) == stride_of(b))


registry["copy_"].register(K.CPU, copying_kernel(registry["copy_"].own_kernel(K.CPU)))


def on_device(grad, device):
    """A gradient, brought back to where the copied tensor was."""
    return grad if device is None or grad._device == device else grad.to(device)


_copy_node = registry["copy_"].info.derivatives.node_class
_copy_node.__name__ = "CopyBackwards"
_copy_node.name = lambda self: "torch::autograd::CopyBackwards"


def fake_copy(keys, self, src, non_blocking=False):
    if not self.is_meta and src.is_meta:
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    check_fits(self._shape, src._shape)
    return self


registry["copy_"].register(K.META, fake_copy)


def filling_operator(name, vjp, fake=None):
    """Declare an in-place operator by a kernel of tensors; `fake` refuses what it cannot do.

    It gives all elements one value, and so may write to tensors whose elements share memory.
    """
    def declare(function):
        info = describe(name, "in-place", function, vjp, None, fake, False, False)
        op = Operator(name, info)

        def write(keys, self, *args):
            function(self, *args)
            return self

        op.register(K.CPU, write)
        op.register(K.META, lambda keys, self, *args: self)
        register_inplace_keys(op, info.derivatives)
        return finish(op, info, ("Tensor",), is_inplace=True)
    return declare


@filling_operator("zero_", vjp={"self": no_gradient})
def zero_(self):
    """Fill with zeros."""
    array_of(self).fill(0)


def check_filling(self, value):
    if isinstance(value, Tensor):
        refuse_overlap(self)
    checked_filling(value, self._dtype, "fill_")


@filling_operator("fill_", vjp={"self": no_gradient, "value": lambda grad: grad.sum()}, fake=check_filling)
def fill_(self, value):
    """Fill with a number or the value of a 0-dim tensor."""
    if isinstance(value, Tensor):
        refuse_overlap(self)
    array_of(self)[...] = filling(value, self._dtype, "fill_")


def filling(value, dtype, name):
    """The value to fill with, in the tensor's dtype."""
    checked = checked_filling(value, dtype, name)
    return cast(array_of(checked), dtype) if isinstance(checked, Tensor) else checked


def checked_filling(value, dtype, name):
    """A tensor that has one value, as it is, or a number in the dtype; the data of the tensor is not looked at."""
    if isinstance(value, Tensor):
        if value._shape:
            raise RuntimeError(f"{name} only supports 0-dimension value tensor but got tensor with "
                               f"{len(value._shape)} dimensions.")
        return value
    if not isinstance(value, (bool, int, float, np.generic)):
        raise TypeError(f"{name}() received an invalid combination of arguments - got "
                        f"({type(value).__name__}), but expected one of:\n"
                        " * (Tensor value)\n * (Number value)\n")
    return number_in(dtype, value)


name_node("fill_", "FillBackward2")


def fake_fill(self, value):
    checked_filling(value, self._dtype, "fill_")
    return preserved_like(self)


@tensor_operator("fill", vjp={"self": no_gradient, "value": lambda grad: grad.sum()}, spaces=("",), fake=fake_fill)
def fill(self, value):
    """A tensor like `self`, full of a number or of the value of a 0-dim tensor."""
    filled = empty_like_array(self, self._dtype)
    filled[...] = filling(value, self._dtype, "fill_")
    return from_array(filled, self._dtype)


def empty_like_array(t, dtype):
    return empty_strided_array(t._shape, preserved_stride(t), dtype.numpy)


# ---- to ------------------------------------------------------------------------------------------

def fake_to_copy(self, dtype, device, memory_format, non_blocking=False):
    return Fake(self._shape, dtype, strides_in(memory_format, self._shape, stride_of(self)))


def to_copy(self, dtype, device, memory_format, non_blocking=False):
    """A copy in another dtype, on another device (None: the same) or in another memory format.

    `non_blocking`: whether the host may go on before a copy from or to an accelerator is done (ops/transfer.py)."""
    stride = strides_in(memory_format, self._shape, stride_of(self))
    if device is not None and device.type == "meta":
        return meta_tensor(self._shape, dtype, stride)
    if device is not None and device.type != "cpu":
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return copy_with_strides(self, dtype, stride)


def to_copy_from_meta(keys, self, dtype, device, memory_format, non_blocking=False):
    if device is not None and device.type != "meta":
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    return fake_tensor(fake_to_copy(self, dtype, device, memory_format))


tensor_operator("_to_copy", vjp={"self": lambda grad, self_device: on_device(grad, self_device)}, fake=fake_to_copy,
                spaces=())(to_copy)
_to_copy = registry["_to_copy"]
_to_copy.register(K.META, to_copy_from_meta)


def convert(t, dtype, target, copy=False, wanted=preserve_format, non_blocking=False):
    """`t` itself where it already is what is wanted, else a copy that gradients flow through."""
    if not copy and dtype is t._dtype and target == t._device:
        if wanted is preserve_format or suggested(t._shape, stride_of(t)) is wanted:
            return t
    return _to_copy(t, dtype, None if target == t._device else target, wanted, non_blocking)


def to(self, *args, dtype=None, device=None, other=None, non_blocking=False, copy=False, memory_format=None):
    """This tensor in another dtype, on another device, or like another tensor: itself if nothing changes.

    `to(dtype)`, `to(device, dtype)`, `to(other)`, each followed by `non_blocking, copy`. `copy`: in any case.
    `memory_format`: of the copy; preserve_format keeps the order of strides.
    """
    args = list(args)
    if args and isinstance(args[0], Tensor):
        other = args.pop(0)
    elif args and not isinstance(args[0], dt.dtype) and args[0] not in PYTHON_DTYPES:
        device = args.pop(0)
    if args and other is None and not isinstance(args[0], bool):
        dtype = args.pop(0)
    non_blocking = args[0] if args else non_blocking
    copy = args[1] if len(args) > 1 else copy
    if other is not None:
        dtype, device = other._dtype, other._device
    target = self._device if device is None else as_device(device)
    return _to(self, self._dtype if dtype is None else as_dtype(dtype, "to"), target, copy,
               preserve_format if memory_format is None else memory_format, non_blocking)


@composite("to", spaces=())
def to_operator(self, dtype, device, copy, memory_format, non_blocking=False):
    """This tensor in a dtype and on a device, itself if it is so already."""
    return convert(self, dtype, device, copy, memory_format, non_blocking)


_to = registry["to"]
_to.info.public = publish("to", to, ("Tensor",))


def conversion(name, dtype):
    """The method `t.float()` and its like."""
    def method(self, memory_format=preserve_format):
        return convert(self, dtype, self._device, False, memory_format)
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"This tensor as {dtype}: itself if it is so already."
    return publish(name, method, ("Tensor",))


for _name, _dtype in (("float", dt.float32), ("double", dt.float64), ("half", dt.float16),
                      ("bfloat16", dt.bfloat16), ("int", dt.int32), ("long", dt.int64),
                      ("short", dt.int16), ("char", dt.int8), ("byte", dt.uint8), ("bool", dt.bool)):
    conversion(_name, _dtype)


def type_as(self, other):
    """This tensor in the dtype and on the device of another."""
    return convert(self, other._dtype, other._device)


def cpu(self, memory_format=preserve_format):
    """This tensor on the CPU: itself if it is there already."""
    return convert(self, self._dtype, CPU, False, memory_format)


def type_(self, dtype=None, non_blocking=False):
    """The name of the tensor's type, such as "torch.FloatTensor"; or the tensor in that type or dtype."""
    if dtype is None:
        place = "" if self.is_cpu else self._device.type + "."
        place += "" if entries_of(self) is None else "sparse."
        return f"torch.{place}{dt.scalar_type_name(self._dtype)}Tensor"
    if isinstance(dtype, str):
        dtype = dtype_of_type_name(dtype)
    elif dtype in PYTHON_DTYPES:
        raise ValueError(f"invalid type: '{dtype.__name__}'")
    elif isinstance(getattr(dtype, "dtype", None), dt.dtype):
        dtype = dtype.dtype                                      # torch.FloatTensor and its like
    return self.to(dtype)


def dtype_of_type_name(name):
    found = [d for d in dt.ALL if name == f"torch.{dt.scalar_type_name(d)}Tensor"]
    if not found:
        raise ValueError(f"invalid type: '{name}'")
    return found[0]


publish("type", type_, ("Tensor",))
publish("type_as", type_as, ("Tensor",))
publish("cpu", cpu, ("Tensor",))


# ---- the names of formats ------------------------------------------------------------------------

for _format in (contiguous_format, preserve_format, layouts.channels_last, layouts.channels_last_3d, strided,
                layouts.sparse_coo):
    publish(_format.name, _format, ("",))
publish("layout", layouts.layout, ("",))
publish("memory_format", layouts.memory_format, ("",))
publish("dtype", dt.dtype, ("",))
publish("device", device, ("",))
