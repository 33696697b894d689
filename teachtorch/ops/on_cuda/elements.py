"""One element at a time: pointwise operators, copies and filling."""

import numpy as np

from ...dispatch.operator import registry
from ...kernels.pointwise import COMPILED_DTYPES
from ...tensor import Tensor, array_of
from ..activation import GELU, GELU_BACKWARD
from ..elementwise import compute_dtype, scalar_of
from .launching import are_floats, kernel_for, takes


@kernel_for("pointwise")
def pointwise(launch, outputs, args):
    """Any pointwise operator, from the one-element function of its declaration."""
    out, (info, args) = outputs[0] if outputs else args[0], without_missing(launch.op.info, args)
    kernels, kind = info.pointwise
    kernel, args = kernels.choose(args)
    if any(a is None for a in args):
        return False  # the declaration's function knows nothing of operands left out
    dtype = compute_dtype(args, kind)
    on_device = [a for a in args if isinstance(a, Tensor) and not a.is_cpu]
    if not on_device or dtype.numpy not in COMPILED_DTYPES or not takes(out, *on_device):
        return False
    if not can_translate(kernel.scalar, dtype):
        return False
    operands = [operand(a, dtype, check) for a, check in zip(args, kernels.parameters)]
    launch.compute(kernel, out, operands, dtype)


def without_missing(info, args):
    """clamp with one bound is another operator of two arguments."""
    if info.name == "clamp" and (args[1] is None) != (args[2] is None):
        name = "clamp_max" if args[1] is None else "clamp_min"
        return registry[name].info, (args[0], args[2] if args[1] is None else args[1])
    return info, args


_translatable = {}


def can_translate(scalar, dtype):
    """Whether a one-element function has a form for CUDA: a few call functions that only the CPU has."""
    key = scalar, dtype
    if key not in _translatable:
        from ...kernels.cuda.source import DeviceTranslator

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
    launch.copy(outputs[0], args[0])


@kernel_for("copy_")
def copy_into(launch, outputs, args):
    target, source = args[:2]
    if not isinstance(source, Tensor) or source.is_cpu or not takes(target, source):
        return False
    launch.copy(target, source)


@kernel_for("zero_", "fill_")
def fill(launch, outputs, args):
    target, value = args[0], args[1] if len(args) > 1 else 0
    if isinstance(value, Tensor) or not takes(target):
        return False
    launch.fill(target, value)


@kernel_for("zeros", "ones", "full")
def filled(launch, outputs, args):
    out, name = outputs[0], launch.op.name
    value = args[1] if name == "full" else int(name == "ones")
    if not takes(out) or isinstance(value, Tensor):
        return False
    launch.fill(out, value)


@kernel_for("fill")
def fill_new(launch, outputs, args):
    return fill(launch, outputs, (outputs[0], args[1]))


def choose(condition, x, y):
    return x if condition else y


def chosen_elsewhere(x, condition, y):
    return y if condition else x


@kernel_for("masked_fill", "masked_fill_")
def masked_fill(launch, outputs, args):
    t, mask, value = args
    out = outputs[0] if outputs else t
    if mask._dtype.numpy != np.bool_ or not takes(out) or mask.is_cpu:
        return False
    if isinstance(value, Tensor):
        value = array_of(value).astype(out._dtype.numpy)[()] if value.is_cpu else value
    else:
        value = scalar_of(value, out._dtype)
    launch.compute(chosen_elsewhere, out, [t, mask, value], out._dtype)


def is_close(x, y, rtol, atol, equal_nan):
    """NumPy's rule: equal, or as near as the tolerances say; infinities only to themselves."""
    near = abs(x - y) <= atol + abs(rtol * y) and abs(y) < np.inf
    return x == y or near or equal_nan != 0 and x != x and y != y


@kernel_for("isclose")
def isclose(launch, outputs, args):
    x, y, rtol, atol, equal_nan = args
    if not are_floats(x, y):
        return False
    numbers = [scalar_of(number, x._dtype) for number in (rtol, atol, float(equal_nan))]
    launch.compute(is_close, outputs[0], [x, y, *numbers], x._dtype)


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
