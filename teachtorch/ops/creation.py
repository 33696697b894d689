"""Making tensors: from data, filled, ranges, and like other tensors."""
import math
import warnings

import numpy as np

from ..autograd.meta import tracks
from ..core import device as devices
from ..core import dtype as dt
from ..core import geometry, promotion, settings
from ..core.device import as_device
from ..core.layout import preserve_format, sparse_coo, strides_in
from ..dispatch import keys as K
from ..dispatch.call_rules import invalid_combination, is_index, rules_of, type_name
from ..dispatch.operator import COMPOSITE_EXPLICIT, Operator, registry
from ..dispatch.state import state
from ..dispatch.torch_function import subclass_keys
from ..tensor import Size, Tensor, from_array, same_memory, stride_of
from .arguments import as_dtype, as_sizes, require_float, require_kind, size_argument, sizes_by_name
from .declare import backend_for, describe, exports, fake_tensor, publish, require_tensor_out, resize_elements
from .elementwise import explain
from .fake import Fake
from .memory_formats import empty_strided_array
from .sequences import array_from_data, assigned_number, number_in

# ---- how factories are declared ------------------------------------------------------------------


def factory_operator(name, fake):
    """Declare an operator that makes a tensor of no tensor: a function of its arguments to an array.

    Calls pass the device first; the BackendSelect key chooses that device's kernel.
    """
    def declare(function):
        info = describe(name, "factory", function, None, None, fake, False, False)
        op = Operator(name, info)
        op.register(K.BACKEND_SELECT, lambda keys, device, *args: op.redispatch(
            backend_for(device), device, *args))
        op.register(K.CPU, factory_kernel(function, fake))
        op.register(K.META, lambda keys, device, *args: fake_tensor(fake(*args)))
        return op
    return declare


def factory_kernel(function, fake):
    """The CPU kernel: the array as a tensor, or PyTorch's error where there is no memory for it."""
    def cpu(keys, device, *args):
        try:
            return from_array(function(*args))
        except Exception:
            explain(fake, args)
            raise
    return cpu


def made(op, args, dtype, device, requires_grad, out=None, pin_memory=False):
    """The factory's result as users get it: a leaf that requires grad if asked, or written into `out`."""
    if out is not None:
        require_tensor_out(op.name, out)
        dtype = out._dtype if dtype is None else as_dtype(dtype, op.name)
        require_same_dtype(out, dtype)
        return write_to(out, op(out._device, *args, dtype), op.name)
    t = op(as_device(device), *args, settings.default_dtype if dtype is None else as_dtype(dtype, op.name))
    if pin_memory:
        t = pinned_copy(t)
    return asked_grad(t) if requires_grad else t


def pinned_copy(t):
    """A factory's result in pinned memory. RuntimeError for other devices than the CPU, as in PyTorch."""
    if not t.is_cpu:
        raise RuntimeError("Only dense CPU tensors can be pinned")
    return t.pin_memory()


def asked_grad(t):
    if not t._dtype.is_floating_point:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return t.requires_grad_()


def require_same_dtype(out, dtype):
    """RuntimeError where a factory is asked for another dtype than that of its `out`."""
    if out._dtype is not dtype:
        raise RuntimeError(f"dtype {dt.scalar_type_name(dtype)} does not match dtype of out parameter "
                           f"({dt.scalar_type_name(out._dtype)})")


def write_to(out, t, name):
    """Write a factory's result into `out`, whose shape it changes where needed. Only arange warns of that."""
    if name == "arange" and out.numel() == t.numel():
        return out.copy_(t.view(out._shape))
    if name == "arange" and out.numel():
        warnings.warn(f"The number of elements in the out tensor of shape {list(out._shape)} is {out.numel()} which "
                      f"does not match the computed number of elements {t.numel()}. Note that this may occur as a "
                      f"result of rounding error. The out tensor will be resized to a tensor of shape ({t.numel()},).",
                      UserWarning, stacklevel=4)
    if out._shape != t._shape:
        resize_elements(out, t._shape, stride_of(t))
    return out.copy_(t)


def checked_size(size, name):
    """Refuse negative sizes."""
    if size and min(size) < 0:
        if name == "zeros":
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    return size


def sizes_for(name, size, named):
    """The sizes of `zeros(2, 3)`, `zeros((2, 3))` and `zeros(size=(2, 3))`."""
    if named:
        size = sizes_by_name(size, named, name, "size")
    elif not size:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    if len(size) == 1 and not hasattr(size[0], "__index__") and not isinstance(size[0], (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'size' (position 1) must be tuple of ints, not {type(size[0]).__name__}")
    return checked_size(as_sizes(size, name), name)


# ---- filled --------------------------------------------------------------------------------------

def fake_filled(size, dtype):
    return Fake(size, dtype)


@factory_operator("zeros", fake=fake_filled)
def zeros_kernel(size, dtype):
    """Zeros of the given size."""
    return np.zeros(size, dtype.numpy)


@factory_operator("ones", fake=fake_filled)
def ones_kernel(size, dtype):
    """Ones of the given size."""
    return np.ones(size, dtype.numpy)


@factory_operator("empty", fake=fake_filled)
def empty_kernel(size, dtype):
    """Uninitialised memory of the given size."""
    return np.empty(size, dtype.numpy)


@factory_operator("full", fake=lambda size, fill_value, dtype: Fake(size, dtype))
def full_kernel(size, fill_value, dtype):
    """A tensor of the given size, full of one number."""
    return np.full(size, number_in(dtype, fill_value), dtype.numpy)


@factory_operator("empty_strided", fake=lambda size, stride, dtype: Fake(size, dtype, stride))
def empty_strided_kernel(size, stride, dtype):
    """Uninitialised memory with the given size and strides."""
    return empty_strided_array(size, stride, dtype.numpy)


def without_entries(name, size, dtype, device, requires_grad):
    """What a factory makes in layout sparse_coo: nothing but zeros."""
    if name == "ones":
        raise RuntimeError("full(...) is not implemented for sparse layout")
    return exports[""]["sparse_coo_tensor"](size, dtype=dtype, device=device, requires_grad=requires_grad)


def sized_factory(op):
    """The public function of a factory whose only argument is the size."""
    name = op.name

    def factory(*size, out=None, dtype=None, layout=None, device=None,
                pin_memory=False, requires_grad=False, **named):
        size = sizes_for(name, size, named)
        if layout is sparse_coo:
            return without_entries(name, size, dtype, device, requires_grad)
        return made(op, (size,), dtype, device, requires_grad, out, pin_memory)

    factory.__name__ = factory.__qualname__ = name
    factory.__doc__ = (op.info.function.__doc__ or "") + """

    `size`: ints, or one tuple of them; `out`: a tensor to write to. RuntimeError for negative sizes.
    """
    op.info.public = publish(name, factory, ("",))


sized_factory(zeros_kernel)
sized_factory(ones_kernel)


def empty(*size, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False,
          memory_format=None, **named):
    """Uninitialised memory of the given size, in the order of `memory_format`."""
    size = sizes_for("empty", size, named)
    if layout is sparse_coo:
        return without_entries("empty", size, dtype, device, requires_grad)
    if memory_format is None:
        return made(empty_kernel, (size,), dtype, device, requires_grad, out, pin_memory)
    return empty_strided(size, strides_in(memory_format, size), dtype=dtype, device=device,
                         requires_grad=requires_grad)


def empty_strided(size, stride, *, dtype=None, layout=None,
                  device=None, requires_grad=False, pin_memory=False):
    """Uninitialised memory with the given size and strides (in elements)."""
    size = checked_size(size_argument(size, "empty_strided"), "empty_strided")
    stride = size_argument(stride, "empty_strided", "stride")
    if len(size) != len(stride):
        raise RuntimeError(f"dimensionality of sizes ({len(size)}) must match dimensionality of strides "
                           f"({len(stride)})")
    if stride and min(stride) < 0:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    t = made(empty_strided_kernel, (size, stride), dtype, device, False, None, pin_memory)
    t._stride = stride
    return asked_grad(t) if requires_grad else t


def full(size, fill_value, *, out=None, dtype=None, layout=None,
         device=None, requires_grad=False, pin_memory=False):
    """A tensor of the given size full of one number, whose kind decides the dtype (bool, int64, default)."""
    size = checked_size(size_argument(size, "full"), "full")
    value = fill_number(fill_value, "full")
    if dtype is None:
        dtype = out._dtype if out is not None else promotion.dtype_of_number(value)
    return made(full_kernel, (size, value), dtype, device, requires_grad, out, pin_memory)


def fill_number(value, name):
    """The number to fill with, also from a 0-dim tensor."""
    if isinstance(value, Tensor) and not value._shape:
        return value.item()
    if isinstance(value, (bool, int, float, np.generic)):
        return value
    raise TypeError(
        f"{name}(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}")


def scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A 0-dim tensor of a number, in the default dtype unless told."""
    return made(full_kernel, ((), fill_number(s, "scalar_tensor")), dtype, device, requires_grad)


for _function, _op in ((empty, empty_kernel), (empty_strided, empty_strided_kernel), (full, full_kernel)):
    _op.info.public = publish(_function.__name__, _function, ("",))
publish("scalar_tensor", scalar_tensor, ("",))


# ---- like another tensor -------------------------------------------------------------------------

def like_operator(name, make):
    """Declare `name(self, args, dtype, ...)` by `make(size, stride, dtype, device, *args)`."""
    def like(self, args, dtype, device, memory_format):
        stride = strides_in(memory_format or preserve_format, self._shape, stride_of(self))
        return make(self._shape, stride, self._dtype if dtype is None else as_dtype(dtype, name),
                    self._device if device is None else as_device(device), *args)
    like.__doc__ = f"What `{name}` does."
    return beside_operator(name, like)


def beside_operator(name, function):
    """Declare an operator that makes a tensor beside another one: the same kernel for every backend, no derivative."""
    op = Operator(name, describe(name, "like", function, None, None, None, False, False))
    op.register(COMPOSITE_EXPLICIT, lambda keys, *args: function(*args))
    return op


def strided_result(t, stride):
    """A contiguous tensor full of one value, laid out with other dense strides."""
    if stride == geometry.contiguous_strides(t._shape):
        return t
    if t.is_cpu:
        t._array = laid_out(t._array, stride)
    t._stride = stride
    return t


def laid_out(array, stride):
    if not array.size:
        return array
    return np.ndarray(array.shape, array.dtype, array, 0, tuple([s * array.itemsize for s in stride]))


_zeros_like = like_operator("zeros_like", lambda size, stride, dtype, device: strided_result(
    zeros_kernel(device, size, dtype), stride))
_ones_like = like_operator("ones_like", lambda size, stride, dtype, device: strided_result(
    ones_kernel(device, size, dtype), stride))
_empty_like = like_operator("empty_like", lambda size, stride, dtype, device: strided_result(
    empty_kernel(device, size, dtype), stride))
_full_like = like_operator("full_like", lambda size, stride, dtype, device, value: strided_result(
    full_kernel(device, size, value, dtype), stride))


def publish_like(op, doc):
    def like(input, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
             memory_format=None):
        if layout is None or layout is input.layout:
            t = op(input, (), dtype, device, memory_format)
        else:
            factory = exports[""][op.name.removesuffix("_like")]
            t = factory(input._shape, dtype=dtype or input._dtype, device=device or input._device, layout=layout)
        return asked_grad(t) if requires_grad else t
    like.__name__ = like.__qualname__ = op.name
    like.__doc__ = doc
    op.info.public = publish(op.name, like, ("",))


publish_like(_zeros_like, "Zeros with the size, dtype, device and stride order of `input`.")
publish_like(_ones_like, "Ones with the size, dtype, device and stride order of `input`.")
publish_like(_empty_like, "Uninitialised memory with the size, dtype, device and stride order of `input`.")


def full_like(input, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False,
              pin_memory=False, memory_format=None):
    """A tensor full of one number, with the size, dtype, device and stride order of `input`."""
    t = _full_like(input, (fill_number(fill_value, "full_like"),), dtype, device, memory_format)
    return asked_grad(t) if requires_grad else t


_full_like.info.public = publish("full_like", full_like, ("",))


# ---- tensor.new_...: another size, this tensor's dtype and device --------------------------------

def new_method(name, op):
    """The method `t.new_zeros(2, 3)` and its like."""
    def new(self, size, dtype, device):
        return op(self._device if device is None else as_device(device), size,
                  self._dtype if dtype is None else as_dtype(dtype, name))
    new.__doc__ = f"`{op.name}` of the given size, with this tensor's dtype and device unless told."
    new_op = beside_operator(name, new)

    def method(self, *size, dtype=None, device=None, requires_grad=False,
               layout=None, pin_memory=False, **named):
        t = new_op(self, sizes_for(name, size, named), dtype, device)
        return asked_grad(t) if requires_grad else t

    method.__name__ = method.__qualname__ = name
    method.__doc__ = new.__doc__
    new_op.info.public = publish(name, method, ("Tensor",))


new_method("new_zeros", zeros_kernel)
new_method("new_ones", ones_kernel)
new_method("new_empty", empty_kernel)


def new_full_kernel(self, size, fill_value, dtype, device):
    """A tensor of the given size full of one number, with this tensor's dtype and device unless told."""
    return full_kernel(self._device if device is None else as_device(device), size, fill_value,
                       self._dtype if dtype is None else as_dtype(dtype, "new_full"))


_new_full = beside_operator("new_full", new_full_kernel)


def new_full(self, size, fill_value, *, dtype=None, device=None,
             requires_grad=False, layout=None, pin_memory=False):
    """A tensor of the given size full of one number, with this tensor's dtype and device unless told."""
    size = checked_size(size_argument(size, "new_full"), "new_full")
    t = _new_full(self, size, fill_number(fill_value, "new_full"), dtype, device)
    return asked_grad(t) if requires_grad else t


def new_empty_strided(self, size, stride, dtype=None, layout=None, device=None, pin_memory=False,
                      requires_grad=False):
    """Uninitialised memory with the given size and strides, this tensor's dtype and device unless told."""
    return empty_strided(tuple(size), tuple(stride), dtype=dtype or self._dtype,
                         device=device or self._device, requires_grad=requires_grad)


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A new leaf tensor with a copy of `data`, with this tensor's dtype and device unless told."""
    if isinstance(data, Tensor):
        warn_of_copy("tensor.new_tensor")
    return made_of(data, dtype or self._dtype, device or self._device, requires_grad)


def new(self, *args, device=None, **named):
    """The legacy constructor, for this tensor's dtype."""
    return legacy_tensor(legacy_arguments(args, named), self._dtype, device or self._device)


_new_full.info.public = new_full
for _function in (new_full, new_empty_strided, new_tensor, new):
    publish(_function.__name__, _function, ("Tensor",))


# ---- from data -----------------------------------------------------------------------------------

_COPY_CONSTRUCT = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor).")


def warn_of_copy(function):
    """Copies of tensors have their own methods."""
    warnings.warn(_COPY_CONSTRUCT.format(function), UserWarning, stacklevel=3)


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new leaf tensor with a copy of `data` (numbers, nested sequences, arrays, tensors).

    Bools, ints and floats make bool, int64 and the default dtype; arrays and NumPy scalars keep theirs.
    ValueError for ragged sequences; TypeError or RuntimeError for what are no numbers.
    """
    if isinstance(data, Tensor):
        warn_of_copy("torch.tensor")
        device = data._device if device is None else device
    return made_of(data, dtype, device, requires_grad, pin_memory)


def made_of(data, dtype, device, requires_grad, pin_memory=False):
    """A new leaf with a copy of `data`."""
    dtype = None if dtype is None else as_dtype(dtype, "tensor")
    made = on_device(array_from_data(data, dtype), device)
    if pin_memory:
        made = pinned_copy(made)
    made = announced(made)
    return asked_grad(made) if requires_grad else made


def announced(t):
    """A tensor that was made of data, as a TorchDispatchMode gets to see it: by the operator lift_fresh."""
    return _lift_fresh(t) if state.dispatch_modes else t


def lift_fresh(self):
    """The tensor itself: how modes are told of a tensor that was made of data."""
    return self


_lift_fresh = beside_operator("lift_fresh", lift_fresh)
_lift_fresh.info.public = lift_fresh


def on_device(array, device):
    """A tensor of a fresh array, moved to a device."""
    t = from_array(array)
    target = as_device(device)
    return t if target is devices.CPU or target == t._device else t.to(target)


def beside(t, array):
    """A tensor of a fresh array on the device of `t`."""
    return on_device(array, t._device)


publish("tensor", tensor, ("",))


def options_of(dtype):
    """How PyTorch's errors print the options of a CPU tensor."""
    return (f"TensorOptions(dtype={dt.cpp_name(dtype)}, device=cpu, layout=Strided, "
            "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))")


def legacy_tensor(args, dtype, device=None, is_typed=True):
    """`torch.Tensor(2, 3)`: uninitialised memory; `torch.Tensor(data)`: data in a fixed dtype.

    A tensor comes back as it is, and an array of that dtype is not copied. TypeError if it has another dtype, unless `torch.Tensor` itself was called, and for
    what is neither sizes nor a sequence.
    """
    if not args:
        return empty(0, dtype=dtype, device=device)
    first = args[0]
    if len(args) == 1 and isinstance(first, Tensor):
        if is_typed and first._dtype is not dtype:
            raise TypeError(f"expected {options_of(dtype)} (got {options_of(first._dtype)})")
        return registry["alias"](first) if tracks(first) and state.grad_enabled else same_memory(first)
    if isinstance(first, Size) or is_size(first):
        return empty(*legacy_sizes(args), dtype=dtype, device=device)
    if len(args) > 1:
        raise no_legacy_call(args, {})
    if not is_indexable(first):
        raise TypeError(f"new(): data must be a sequence (got {type_name(first)})")
    if isinstance(first, np.ndarray):
        return exports[""]["from_numpy"](first).to(device, dtype)
    return on_device(array_from_data(first, dtype), device)


def legacy_arguments(args, named):
    """The arguments in order, where `size` or `data` is given by name. TypeError for other names."""
    if not named:
        return args
    if args or len(named) > 1 or named.keys().isdisjoint(("size", "data")):
        raise no_legacy_call(args, named)
    return named.get("size", (named.get("data"),))


def no_legacy_call(args, named):
    rules = [rule for rule in rules_of("new")[0] if not rule.hidden]
    return TypeError(invalid_combination("new", rules, args, named))


def is_size(value):
    """Whether a number of elements along a dimension; an array of NumPy's is one if it is an integer alone."""
    return is_index(value) and not (isinstance(value, np.ndarray) and (value.ndim or value.dtype.kind not in "iu"))


def legacy_sizes(sizes):
    for place, size in enumerate(sizes, 1):
        if not isinstance(size, Size) and not is_size(size):
            raise TypeError(f"new(): argument 'size' failed to unpack the object at pos {place} with error \"type must "
                            f"be tuple of ints,but got {type_name(size)}\"")
    return [size.item() if isinstance(size, np.ndarray) else size for size in sizes]


def is_indexable(value):
    """What C calls a sequence."""
    return hasattr(type(value), "__getitem__") and not isinstance(value, (dict, np.generic))


def new_tensor_of_class(cls, *args, device=None, **named):
    """The legacy constructor: sizes make uninitialised memory, data a tensor of the default dtype."""
    check_legacy_device(device)
    t = legacy_tensor(legacy_arguments(args, named), settings.default_dtype, device, is_typed=False)
    if cls is not Tensor:
        t = as_instance(t, cls)
    return t


def check_legacy_device(device):
    """The class names the device: torch.Tensor is for the CPU."""
    if device is not None and as_device(device).type != "cpu":
        raise RuntimeError("legacy constructor expects device type: cpu but device type: "
                           f"{as_device(device).type} was passed")


def as_instance(t, cls):
    """The same memory as an instance of a subclass, which is asked if it overrides functions or operators."""
    new = object.__new__(cls)
    for field in ("_array", "_storage", "_offset", "_shape", "_stride", "_dtype", "_device", "_keys",
                  "_counter", "_view", "_meta"):
        setattr(new, field, getattr(t, field))
    new._keys |= subclass_keys(cls)
    return new


Tensor.__new__ = new_tensor_of_class


class TensorType(type):
    """The legacy types, such as torch.FloatTensor: constructors for one dtype, and for isinstance."""

    def __instancecheck__(cls, t):
        return isinstance(t, Tensor) and t._dtype is cls.dtype

    def __call__(cls, *args, device=None, **named):
        check_legacy_device(device)
        return legacy_tensor(legacy_arguments(args, named), cls.dtype, device)


legacy_types = {}
for _dtype in dt.ALL:
    _name = dt.scalar_type_name(_dtype) + "Tensor"
    _doc = f"The old name of tensors of {_dtype.name}: a constructor, and for isinstance."
    legacy_types[_name] = TensorType(_name, (), {"dtype": _dtype, "__module__": "torch", "__doc__": _doc})
    publish(_name, legacy_types[_name], ("",))


# ---- ranges --------------------------------------------------------------------------------------

def fake_range(start, end, step, dtype):
    return Fake((range_length(*bounds_in(dtype, start, end, step)),), dtype)


def bounds_in(dtype, *bounds):
    """Bounds as PyTorch's int64 kernels take them: cut to integers, which must be in range."""
    if dtype is not dt.int64:
        return bounds
    return [int(number_in(dtype, b)) if math.isfinite(b) else b for b in bounds]


@factory_operator("arange", fake=fake_range)
def arange_kernel(start, end, step, dtype):
    """Numbers from `start` up to `end` (not included), `step` apart."""
    if dtype is dt.bool:
        raise NotImplementedError('"arange_cpu" not implemented for \'Bool\'')
    start, end, step = bounds_in(dtype, start, end, step)
    length = range_length(start, end, step)
    geometry.check_storage_size((length,), dtype.itemsize)
    if dtype.category == dt.INTEGRAL:
        return (int(start) + np.arange(length, dtype=np.int64) * int(step)).astype(dtype.numpy)
    return (start + np.arange(length) * float(step)).astype(dtype.numpy)


def range_length(start, end, step):
    """How many numbers `arange` makes. RuntimeError for a step of 0 or in the wrong direction."""
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if start > end if step > 0 else start < end:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return -((start - end) // step)
    return math.ceil((end - start) / step)


def arange(start=None, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, pin_memory=False,
           requires_grad=False):
    """Numbers from `start` (0) up to `end` (not included), `step` apart; int64 if all are integers.

    RuntimeError for a step of 0 or in the wrong direction.
    """
    if end is None:
        start, end = 0, start
    if end is None:
        raise TypeError("arange() received an invalid combination of arguments")
    bounds = [range_number(v, "arange") for v in (0 if start is None else start, end, step)]
    if dtype is None:
        dtype = out._dtype if out is not None else number_dtype(bounds)
    return made(arange_kernel, tuple(bounds), dtype, device, requires_grad, out, pin_memory)


def range_number(value, name):
    if isinstance(value, Tensor) and not value._shape or isinstance(value, np.generic):
        return value.item()
    promotion.check_64_bits(value)
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, bool) else value
    raise TypeError(f"{name}(): arguments must be Number, not {type(value).__name__}")


def number_dtype(numbers):
    return dt.int64 if all(isinstance(n, int) for n in numbers) else settings.default_dtype


def range_(start=0, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, pin_memory=False,
           requires_grad=False):
    """Deprecated: numbers from `start` up to and with `end`. Use arange."""
    warnings.warn("torch.range is deprecated and will be removed in a future release because its behavior is "
                  "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
                  "values in [start, end).", UserWarning, stacklevel=2)
    start, end = (0, start) if end is None else (start, end)
    range_length(start, end, step)
    length = math.floor((end - start) / step) + 1
    end = start + (length - 0.5) * step
    return made(arange_kernel, (start, end, step), dtype, device, requires_grad, out, pin_memory)


def spaced(start, end, steps, dtype):
    """`steps` numbers from `start` to `end`, from both ends towards the middle as PyTorch computes them."""
    wide = np.dtype(np.float64) if not dtype.is_floating_point else dtype.numpy
    if steps == 1:
        return np.array([assigned_number(dtype, start)], wide)
    start, end = [wide.type(number_in(dtype, bound)) for bound in (start, end)]
    step = (end - start) / wide.type(max(steps - 1, 1))
    index = np.arange(steps)
    near_end = (steps - 1 - index).astype(wide)
    return np.where(index < steps // 2, start + step * index.astype(wide), end - step * near_end).astype(wide)


def fake_linspace(start, end, steps, dtype):
    if dtype is dt.bool:
        raise NotImplementedError('"linspace_cpu" not implemented for \'Bool\'')
    return Fake((steps,), dtype)


@factory_operator("linspace", fake=fake_linspace)
def linspace_kernel(start, end, steps, dtype):
    """`steps` evenly spaced numbers from `start` to `end`."""
    fake_linspace(start, end, steps, dtype)
    return spaced(start, end, steps, dtype).astype(dtype.numpy)


@factory_operator("logspace", fake=lambda start, end, steps, base, dtype: Fake((steps,), dtype))
def logspace_kernel(start, end, steps, base, dtype):
    """`base` to the power of evenly spaced exponents."""
    exponents = spaced(start, end, steps, dtype)
    return np.power(exponents.dtype.type(base), exponents).astype(dtype.numpy)


def check_spacing(start, end, steps, name):
    """The bounds as numbers, also from 0-dim tensors."""
    shown = [f"{which} with {len(v._shape)} dimension(s)" for which, v in (("start", start), ("end", end))
             if isinstance(v, Tensor)]
    if any(isinstance(v, Tensor) and v._shape for v in (start, end)):
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got "
                           f"{' and '.join(shown)}.")
    require_kind(steps, (int, np.integer), "int", name, "steps", 3)
    geometry.check_64_bits(steps)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    return range_number(start, name), range_number(end, name)


def linspace(start, end, steps, *, out=None, dtype=None, layout=None, device=None, requires_grad=False,
             pin_memory=False):
    """`steps` evenly spaced numbers from `start` to `end`, both included."""
    start, end = check_spacing(start, end, steps, "linspace")
    return made(linspace_kernel, (start, end, steps), dtype, device, requires_grad, out, pin_memory)


def logspace(start, end, steps, base=10.0, *, out=None, dtype=None, layout=None, device=None,
             requires_grad=False, pin_memory=False):
    """`base` to the power of `steps` evenly spaced exponents from `start` to `end`."""
    start, end = check_spacing(start, end, steps, "logspace")
    require_float(base, "logspace", "base", 4)
    return made(logspace_kernel, (start, end, steps, base), dtype, device, requires_grad, out, pin_memory)


@factory_operator("eye", fake=lambda n, m, dtype: Fake((n, m), dtype))
def eye_kernel(n, m, dtype):
    """Ones on the diagonal, zeros elsewhere."""
    return np.eye(n, m, dtype=dtype.numpy)


def eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A matrix with ones on the diagonal and zeros elsewhere; square unless `m` columns are asked for."""
    m = n if m is None else m
    for letter, size in (("n", n), ("m", m)):
        geometry.check_64_bits(size)
        if size < 0:
            raise RuntimeError(f"{letter} must be greater or equal to 0, got {size}")
    return made(eye_kernel, (n, m), dtype, device, requires_grad, out, pin_memory)


for _function, _op in ((arange, arange_kernel), (linspace, linspace_kernel), (logspace, logspace_kernel),
                       (eye, eye_kernel)):
    _op.info.public = publish(_function.__name__, _function, ("",))
publish("range", range_, ("",))


for _name, _value in (("inf", math.inf), ("nan", math.nan),
                      ("pi", math.pi), ("e", math.e), ("newaxis", None)):
    publish(_name, _value, ("",))
