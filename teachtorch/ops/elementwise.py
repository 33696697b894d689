"""How pointwise operators meet their operands: promotion, broadcasting, in-place results, fake rules."""
import sys

import numpy as np

from ..autograd.tensor_fields import bump_version
from ..core import dtype as dt
from ..core import geometry, observer, promotion, settings
from ..core.dtype import scalar_type_name
from ..dispatch import keys as K
from ..dispatch.state import state
from ..kernels.pointwise import Pointwise, cast
from ..memory.runtime import out_of_memory
from ..tensor import Tensor, array_of, from_array, stride_of
from .fake import Fake
from .sequences import number_in

SAME, FLOAT, BOOL = "same", "float", "bool"
# Numbers that PyTorch passes to its kernels as they are, and so converts with a check. Numbers beside a tensor in
# arithmetic become 0-dim tensors first, which wrap or turn infinite.
CHECKED_PARAMETERS = frozenset(["alpha", "value", "min", "max", "lambd", "min_val", "max_val"])
# Those with which PyTorch computes in float32 for 16-bit operands, and so checks in that range.
WIDE_PARAMETERS = frozenset(["beta", "weight", "threshold", "negative_slope"])
# Operators with an operand that, if it is one number, is not rounded to the 16 bits of the others, and its place:
# 1000 / 1e6 is 0.001 though float16 has no 1e6.
KEPT_NUMBERS = {"mul": 1, "true_divide": 1, "floor_divide": 1, "addcmul": 3, "addcdiv": 3}
SIXTEEN_BITS = (dt.float16, dt.bfloat16)
_CATEGORY_OF_CLASS = {bool: dt.BOOL, int: dt.INTEGRAL, float: dt.FLOATING}


# ---- promotion ------------------------------------------------------------------------------------------------

def common_dtype(args):
    """The dtype in which the operands (tensors and numbers) are computed."""
    dtype, category = None, -1
    for a in args:
        if isinstance(a, Tensor):
            if dtype is None:
                dtype = a._dtype
            elif a._dtype is not dtype:
                return promoted(args)
        else:
            category = max(category, _CATEGORY_OF_CLASS.get(a.__class__, 3))
    if dtype is None or category > dtype.category:
        return promoted(args)
    return dtype


def promoted(args):
    """The full rule: three classes of operand, of which a lower one raises the result's category only."""
    dtypes = [None, None, None]                       # of tensors with dimensions, 0-dim tensors, numbers
    for a in args:
        is_tensor = isinstance(a, Tensor)
        which = (0 if a._shape else 1) if is_tensor else 2
        new = a._dtype if is_tensor else promotion.dtype_of_number(a)
        dtypes[which] = new if dtypes[which] is None else promotion.promote_types(dtypes[which], new)
    return promotion.combine(*dtypes)


def compute_dtype(args, kind):
    dtype = common_dtype(args)
    return settings.default_dtype if kind == FLOAT and dtype.category != dt.FLOATING else dtype


def operand(a, dtype):
    """An operand as an array (or NumPy scalar) of the computation's dtype."""
    if isinstance(a, Tensor):
        array = array_of(a)
        return array if a._dtype is dtype else cast(array, dtype.numpy)
    return scalar_of(a, dtype)


def operands_of(args, dtype, parameters):
    """All operands for a kernel. RuntimeError for a parameter that is out of the dtype's range."""
    return [checked(dtype, a) if checked is not None and not isinstance(a, Tensor) else operand(a, dtype)
            for a, checked in zip(args, parameters)]


def check_of(name):
    """The function that converts a number in the place of this argument with a check; None if there is no check."""
    return number_in if name in CHECKED_PARAMETERS else wide_number_in if name in WIDE_PARAMETERS else None


def wide_number_in(dtype, number):
    """`number_in`; for the 16-bit floats, whatever is in float32's range, and infinite if it is not in theirs."""
    if dtype not in SIXTEEN_BITS:
        return number_in(dtype, number)
    with np.errstate(over="ignore"):
        return dtype.numpy.type(number_in(dt.float32, number))


def scalar_of(number, dtype):
    """A Python number as a NumPy scalar; integers wrap around as C++ casts do."""
    promotion.check_64_bits(number)
    try:
        if -60000 < number < 60000:                        # in every floating dtype's range
            return dtype.numpy.type(number)
        with np.errstate(over="ignore"):
            return dtype.numpy.type(number)
    except (OverflowError, ValueError):
        return np.asarray(number).astype(dtype.numpy)[()]


# ---- kernels --------------------------------------------------------------------------------------------------

class PointwiseKernels:
    """The kernel with all operands, and the plain one that serves while the keyword-only operands have defaults.

    `parameters`: for each operand, the function that checks a number in its place, or None.
    `kept`: the place of an operand of KEPT_NUMBERS, or None.
    """

    def __init__(self, full, plain, count, defaults, parameters, kept):
        self.full, self.plain, self.count, self.defaults = full, plain, count, defaults
        self.parameters, self.kept = parameters, kept

    def choose(self, args):
        """(kernel, its operands)."""
        if self.plain is not None and args[self.count:] == self.defaults:
            return self.plain, args[:self.count]
        return self.full, args

    def keeps_a_number(self, args, dtype):
        """Whether to compute in float32, and round to `dtype` once."""
        if dtype not in SIXTEEN_BITS or self.kept is None or self.kept >= len(args):
            return False
        number = args[self.kept]
        return not isinstance(number, Tensor) or not number._shape


def kernel_of(scalar, numpy, kind, plain, plain_numpy, signature):
    result = np.bool_ if kind == BOOL else None
    full = Pointwise(scalar, numpy, result)
    short = None if plain is None else Pointwise(plain, plain_numpy, result)
    defaults = tuple(signature.keyword_defaults.get(n) for n in signature.keyword_only)
    parameters = [check_of(n) for n in signature.names]
    kept = KEPT_NUMBERS.get(scalar.__name__)
    return PointwiseKernels(full, short, len(signature.positional), defaults, parameters, kept)


def cpu_kernel(kernels, kind, fake):
    """The CPU kernel: operands to one dtype, then the loop. The usual call, one or two tensors of one dtype and
    options at their defaults, is tried first."""
    general = general_kernel(kernels, kind)
    plain, defaults = kernels.plain or kernels.full, kernels.defaults
    result_dtype = dt.bool if kind == BOOL else None
    lowest = dt.FLOATING if kind == FLOAT else dt.BOOL
    quick = () if any(kernels.parameters[:2]) else (dt.float32, dt.float64)

    def unary(keys, a, *options):
        try:
            if options == defaults and isinstance(a, Tensor) and a._dtype.category >= lowest:
                return from_array(plain(array_of(a)), result_dtype or a._dtype)
            return general(a, *options)
        except Exception:
            explain(fake, (a, *options))
            raise

    def binary(keys, a, b, *options):
        try:
            if options == defaults and isinstance(a, Tensor):
                dtype = a._dtype
                if isinstance(b, Tensor):
                    if b._dtype is dtype and dtype.category >= lowest:
                        return from_array(plain(array_of(a), array_of(b)), result_dtype or dtype)
                elif b.__class__ is float and dtype in quick:
                    return from_array(plain(array_of(a), dtype.numpy.type(b)), result_dtype or dtype)
            return general(a, b, *options)
        except Exception:
            explain(fake, (a, b, *options))
            raise

    def several(keys, *args):
        try:
            return general(*args)
        except Exception:
            explain(fake, args)
            raise

    return {1: unary, 2: binary}.get(kernels.count, several)


def explain(fake, args):
    """A kernel failed: raise the fake rule's error, which is in PyTorch's words, if it has one; alone, since NumPy's
    error before it says nothing more."""
    error, found = sys.exception(), None
    if fake is not None:
        try:
            found = fake(*args)
        except Exception as refusal:
            raise refusal from None
    explain_memory(error, found)


def explain_memory(error, fake):
    """NumPy got no memory for a kernel: say so in PyTorch's words. `fake`: the result that there was none for."""
    if isinstance(fake, Fake):
        geometry.check_storage_size(fake.shape, fake.dtype.itemsize)
    if isinstance(error, MemoryError):
        nbytes = geometry.numel(fake.shape) * fake.dtype.itemsize if isinstance(fake, Fake) else bytes_refused(error)
        raise out_of_memory(nbytes) from None


def bytes_refused(error):
    """How many bytes NumPy asked for in vain; 0 where its error does not say."""
    shape = getattr(error, "shape", None)
    return 0 if shape is None else geometry.numel(shape) * error.dtype.itemsize


def general_kernel(kernels, kind):
    """Any operands: choose the loop, promote, convert."""
    def general(*args):
        kernel, args = kernels.choose(args)
        dtype = compute_dtype(args, kind)
        if kernels.keeps_a_number(args, dtype):
            return from_array(computed_wide(kernel, args, kernels.parameters, dtype), dtype)
        found = kernel(*operands_of(args, dtype, kernels.parameters))
        return from_array(found, dt.bool if kind == BOOL else dtype)
    return general


def cpu_inplace_kernel(name, kernels, kind):
    """The CPU kernel of the in-place variant. The usual call, floats of one dtype and shape, is tried first."""
    general = general_inplace_kernel(name, kernels, kind)
    if kind == BOOL:
        return general

    def cpu(keys, *args):
        kernel, chosen = kernels.choose(args)
        operands = alike(chosen)
        if operands is None:
            return general(keys, *args)
        refuse_overlap(args[0])
        kernel.into_first(*operands)
        return args[0]
    return cpu


def alike(args):
    """The operands of an in-place call as arrays and NumPy scalars, where that takes no promotion, no broadcasting
    and no look at shared memory; else None."""
    target = args[0]
    dtype, shape, storage = target._dtype, target._shape, target._storage
    if dtype is not dt.float32 and dtype is not dt.float64:
        return None
    operands = [target._array if target._array is not None else array_of(target)]
    for a in args[1:]:
        if isinstance(a, Tensor):
            if a._dtype is not dtype or a._shape != shape or (a._storage is storage is not None and a is not target):
                return None
            operands.append(a._array if a._array is not None else array_of(a))
        elif a.__class__ is float and -60000 < a < 60000:      # in every floating dtype's range
            operands.append(dtype.numpy.type(a))
        else:
            return None
    return operands


def general_inplace_kernel(name, kernels, kind):
    """Any operands: the checks, promotion, conversion to the target's dtype."""
    def cpu(keys, *args):
        target = args[0]
        refuse_overlap(target)
        refuse_partial_overlap(target, args[1:])
        kernel, args = kernels.choose(args)
        dtype = compute_dtype(args, kind)
        check_result(name, target, broadcast_shape(args), dt.bool if kind == BOOL else dtype)
        if kernels.keeps_a_number(args, dtype):
            np.copyto(array_of(target), computed_wide(kernel, args, kernels.parameters, dtype), casting="unsafe")
            return target
        operands = operands_of(args, dtype, kernels.parameters)
        if target._dtype is dtype and kind != BOOL:
            kernel(*operands, out=array_of(target))
        else:
            np.copyto(array_of(target), kernel(*operands), casting="unsafe")
        return target
    return cpu


def computed_wide(kernel, args, parameters, dtype):
    return cast(kernel(*operands_of(args, dt.float32, parameters)), dtype.numpy)


# ---- out= -----------------------------------------------------------------------------------------------------

def write_directly(op, out, args):
    """Compute a pointwise operator into `out`, if that is what computing and copying come to; whether it did.

    Not where `out` has another shape or dtype than the result, holds an element twice or shares memory with another
    operand, nor where somebody watches or the call is more than its CPU kernel.
    """
    if observer.active or not is_for_cpu_kernel(op, (out, *args)) or not out._keys & K.AUTOGRAD:
        return False
    kernels, kind = op.info.pointwise
    kernel, args = kernels.choose(args)
    tensors = [a for a in args if isinstance(a, Tensor)]
    if any([t._storage is out._storage is not None and t is not out for t in tensors]):
        return False
    if holds_an_element_twice(out):
        return False
    try:
        dtype = compute_dtype(args, kind)
        if out._dtype is not (dt.bool if kind == BOOL else dtype) or broadcast_shape(args) != out._shape:
            return False
        if kernels.keeps_a_number(args, dtype):
            return False
        operands = operands_of(args, dtype, kernels.parameters)
    except Exception:       # the usual way raises the same, in PyTorch's words
        return False
    target = array_of(out)
    if not target.flags.writeable:
        return False
    kernel(*operands, out=target)
    return True


def is_for_cpu_kernel(op, args):
    """Whether the call would pass from its autograd kernels straight to the CPU kernel of the declaration."""
    return are_plain(args) and op.kernels.get(K.CPU) is op.info.cpu


def are_plain(args):
    """Whether the tensors among the arguments lie on the CPU, and no mode or wrapper class asks to see calls."""
    keys = state.included
    for a in args:
        if isinstance(a, Tensor):
            keys |= a._keys
    return keys & ~state.excluded & ~(K.AUTOGRAD | K.AD_INPLACE_OR_VIEW | K.BACKEND_SELECT) == K.CPU


def hand_over(out, result):
    """Copy a result into `out`, which has its shape: what `out.copy_(result)` does, without a call between plain tensors
    of one dtype."""
    is_plain = out._dtype is result._dtype and out._keys & K.AUTOGRAD and are_plain((out, result))
    target = array_of(out) if is_plain and not observer.active else None
    if target is None or not target.flags.writeable:
        out.copy_(result)
        return
    refuse_overlap(out)
    np.copyto(target, array_of(result))
    bump_version(out)


# ---- checks ---------------------------------------------------------------------------------------------------

def broadcast_shape(args):
    shapes = [a._shape for a in args if isinstance(a, Tensor)]
    if len(shapes) == 1 or all(s == shapes[0] for s in shapes):
        return shapes[0]
    return geometry.broadcast_shapes(*shapes)


def check_cast(name, result, target):
    """A result may not be stored in a tensor of a lower category."""
    if not promotion.can_cast(result, target):
        raise RuntimeError(f"result type {scalar_type_name(result)} can't be cast to the desired output type "
                           f"{scalar_type_name(target)}")


def check_result(name, target, shape, dtype):
    """An in-place result must have the target's shape and fit its dtype's category."""
    check_cast(name, dtype, target._dtype)
    if shape != target._shape:
        raise RuntimeError(f"output with shape {list(target._shape)} doesn't match the broadcast shape "
                           f"{list(shape)}")


def refuse_overlap(t):
    """In-place operators refuse a tensor whose elements share memory, such as an expanded one."""
    if holds_an_element_twice(t):
        raise shared_elements_within()


def holds_an_element_twice(t):
    """Whether two elements surely lie in one place, as after `expand`: in the geometry, or in the array alone."""
    if t._stride is not None:
        return geometry.has_internal_overlap(t._shape, t._stride)
    array = t._array
    return (array is not None and not array.flags.c_contiguous
            and geometry.has_internal_overlap(array.shape, array.strides))


def shared_elements_within():
    return RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single "
                        "memory location. Please clone() the tensor before performing the operation.")


def refuse_partial_overlap(target, sources):
    """What is written to must not share some of its memory with what is read: the order of the loop would show."""
    storage = target._storage
    for source in sources:
        if (isinstance(source, Tensor) and source is not target and source._storage is storage and storage is not None
                and geometry.overlaps_partly(place_of(target), place_of(source))):
            raise shared_elements()


def those_of_many(args):
    """The tensors among the arguments that stand for more than a number."""
    return [a for a in args if isinstance(a, Tensor) and a._shape]


def refuse_any_overlap(target, sources):
    """What is written to must share none of its memory with what is read."""
    for source in sources:
        if isinstance(source, Tensor) and (source is target or source._storage is target._storage is not None
                                           and geometry.overlaps(place_of(target), place_of(source))):
            raise shared_elements()


def shared_elements():
    return RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor refer "
                        "to a single memory location. Please clone() the tensor before performing the operation.")


def place_of(t):
    return t._shape, stride_of(t), t._offset, t._dtype.itemsize


# ---- fake rules -----------------------------------------------------------------------------------------------

def fake_rule(kind, signature=None):
    """The fake rule of a pointwise operator: broadcast shape, promoted dtype, the operands' stride order.

    Keyword-only options take no part while they have their defaults, as in PointwiseKernels.choose.
    """
    count = None if signature is None else len(signature.positional)
    defaults = () if signature is None else tuple(signature.keyword_defaults.get(n) for n in signature.keyword_only)

    def fake(*args):
        if defaults and args[count:] == defaults:
            args = args[:count]
        for i, a in enumerate(args):
            if not isinstance(a, (Tensor, bool, int, float, np.generic)):
                raise TypeError(f"argument (position {i + 1}) must be Tensor or Number, not {type(a).__name__}")
        check_devices(args)
        shape = broadcast_shape(args)
        dtype = dt.bool if kind == BOOL else compute_dtype(args, kind)
        return Fake(shape, dtype, result_stride(args, shape))
    return fake


def check_devices(args):
    """All tensors on one device; a 0-dim CPU tensor may join any."""
    found = {str(a._device) for a in args if isinstance(a, Tensor) and (a._shape or not a.is_cpu)}
    if len(found) > 1:
        raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, "
                           f"{' and '.join(sorted(found))}!")


def result_stride(args, shape):
    """Dense strides in the order of the first operand that has the result's shape; the usual ones if it is contiguous,
    whatever strides its dimensions of size 1 have."""
    for a in args:
        if isinstance(a, Tensor) and a._shape == shape:
            stride = stride_of(a)
            if geometry.is_contiguous(shape, stride):
                break
            return geometry.preserve_format_strides(shape, stride)
    return geometry.contiguous_strides(shape)
