"""torch._foreach_*: an operation on every tensor of a list, in one operator call ("horizontal fusion").

    torch._foreach_mul_(momentums, 0.9)                    for t in momentums: t.mul_(0.9)
    torch._foreach_addcdiv_(params, m, denominators, lr)   one number for all, or a list with one for each

Each operation is written once, for one element: `kernels.optim.ListKernel` compiles it into a loop over all
arrays, and leaves small lists to NumPy. Lists that it cannot take (integers, mixed dtypes or layouts, tensors
to broadcast, other devices) and lists that are recorded for backward go tensor by tensor through the ordinary
operators: PyTorch's "slow route" (aten/src/ATen/native/ForeachUtils.h, can_use_fast_route).
"""
import numpy as np

from ..autograd.meta import tracks
from ..autograd.tensor_fields import bump_version
from ..core import geometry
from ..dispatch import keys as K
from ..dispatch.operator import Operator
from ..dispatch.state import excluding, state
from ..kernels.optim import ListKernel
from ..tensor import Tensor, array_of, from_array, stride_of
from .declare import exports, publish, refuse_overlap
from .fake import like_self
from .launch import device_of, launch, tensor_like

OPERATIONS = []  # every Foreach


class Foreach:
    """One operation: `call` makes new tensors, `change` writes into those of the first list.

    Args:
        name: of the overload, such as "add.List".
        function: what happens to one element: the elements of the lists, then the numbers.
        lists: how many lists of tensors there are.
        arguments: from (the other lists' tensors, then the numbers) to the ordinary method's (args, kwargs);
            as they are by default.
        reads: which of the lists the function reads.
        method: the ordinary operator, if it has another name.
    """

    def __init__(self, name, function, lists=1, arguments=None, reads=None, method=None):
        self.name, self.lists, self.arguments = name, lists, arguments
        self.method = method or name.partition(".")[0]
        reads = tuple(range(lists)) if reads is None else reads
        self.call_kernel = ListKernel(function, lists + 1, tuple([k + 1 for k in reads]), (0,))
        self.change_kernel = ListKernel(function, lists, reads, (0,))
        self.call_op = self._operator("", self._call_cpu)
        self.change_op = self._operator("_", self._change_cpu)
        OPERATIONS.append(self)

    def _operator(self, suffix, cpu):
        name, dot, overload = self.name.partition(".")
        op = Operator(f"_foreach_{name}{suffix}{dot}{overload}")
        op.register(K.CPU, cpu)
        op.register(K.META, lambda keys, *args: self._one_by_one(suffix, args))
        op.register(K.PYTHON, lambda keys, *args: self._offered(suffix, args))
        for key in (K.SIM, K.CUDA):
            op.register(key, lambda keys, *args: self._on_device(op, cpu, suffix, args))
        op.register(K.AUTOGRAD, lambda keys, *args: self._one_by_one(suffix, args) if self._is_recorded(args)
                    else op.redispatch(keys & K.BELOW_AUTOGRAD, *args))
        if suffix:
            op.register(K.AD_INPLACE_OR_VIEW, lambda keys, *args: self._counting_versions(op, keys, args))
        return op

    def call(self, *args):
        """A tuple of new tensors. Args: the lists, then the numbers (each one for all tensors, or a list)."""
        check_lists(args[:self.lists], args[self.lists:])
        return self.call_op(*args)

    def change(self, *args):
        check_lists(args[:self.lists], args[self.lists:])
        self.change_op(*args)

    def _is_recorded(self, args):
        """Whether autograd has work to do: with grad mode on for tensors that require grad, and in forward mode."""
        return state.forward_ad or state.grad_enabled and any(
            tracks(t) for tensors in args[:self.lists] for t in tensors)

    # ---- kernels -------------------------------------------------------------------------------------------

    def _call_cpu(self, keys, *args):
        lists, numbers = self._arrays(args)
        out = [np.empty_like(array) for array in lists[0]]
        if self.call_kernel([out, *lists], numbers):
            return tuple([from_array(array) for array in out])
        return self._one_by_one("", args)

    def _change_cpu(self, keys, *args):
        for t in args[0]:
            refuse_overlap(t)
        lists, numbers = self._arrays(args)
        if not self.change_kernel(lists, numbers):
            self._one_by_one("_", args)

    def _on_device(self, op, cpu, suffix, args):
        """One launch for the whole list, where PyTorch too takes its fast route; else one for each tensor."""
        if not is_uniform([t for tensors in args[:self.lists] for t in tensors]):
            return self._one_by_one(suffix, args)
        device = device_of(op, args[:self.lists])
        if suffix:
            return launch(op, cpu, device, args, written=args[0])
        made = tuple([tensor_like(like_self(t), device) for t in args[0]])
        launch(op, cpu, device, args, outputs=made)
        return made

    def _arrays(self, args):
        return arrays_of(args[:self.lists]), [plain_numbers(a) for a in args[self.lists:]]

    def _counting_versions(self, op, keys, args):
        op.redispatch(keys & K.BELOW_AD_INPLACE_OR_VIEW, *args)
        for t in args[0]:
            bump_version(t)

    def _offered(self, suffix, args):
        """Modes and wrapper tensors see the ordinary operators, one for each tensor; autograd has seen the call."""
        with excluding(K.AUTOGRAD | K.AD_INPLACE_OR_VIEW):
            return self._one_by_one(suffix, args)

    def _one_by_one(self, suffix, args):
        """The ordinary operator on each tensor."""
        count = len(args[0])
        columns = [a if isinstance(a, (list, tuple)) else [a] * count for a in args]
        return tuple([self._one(suffix, *values) for values in zip(*columns)])

    def _one(self, suffix, tensor, *values):
        positional, named = (values, {}) if self.arguments is None else self.arguments(*values)
        if suffix and not hasattr(tensor, self.method + "_"):
            return tensor.copy_(getattr(tensor, self.method)(*positional, **named))
        return getattr(tensor, self.method + suffix)(*positional, **named)


def is_uniform(tensors):
    """Whether the tensors have one floating dtype and each is dense: a kernel takes them all."""
    dtype = tensors[0]._dtype
    return dtype.is_floating_point and all(
        [t._dtype is dtype and geometry.is_non_overlapping_and_dense(t._shape, stride_of(t)) for t in tensors])


def arrays_of(lists):
    """The arrays of lists of tensors."""
    return [[t._array if t._array is not None else array_of(t) for t in tensors] for tensors in lists]


def check_lists(lists, numbers):
    """RuntimeError unless all lists are as long as the first, which must not be empty."""
    count = len(lists[0])
    if not count:
        raise RuntimeError("Tensor list must have at least one tensor.")
    for other in lists[1:]:
        if len(other) != count:
            raise RuntimeError(f"Tensor lists must have the same number of tensors, got {count} and "
                               f"{len(other)}")
    for number in numbers:
        if isinstance(number, (list, tuple)) and len(number) != count:
            raise RuntimeError("Tensor list must have same number of elements as scalar list.")


def plain_numbers(value):
    """A Python number, or a list of them, from what may be 1-element tensors."""
    if isinstance(value, (list, tuple)):
        return [plain_numbers(v) for v in value]
    return value.item() if isinstance(value, Tensor) else value


def is_tensors(value):
    return isinstance(value, (list, tuple)) and len(value) > 0 and isinstance(value[0], Tensor)


# ---- what happens to one element ---------------------------------------------------------------------------

def scaled_sum(a, b, alpha):
    return a + alpha * b


def scaled_difference(a, b, alpha):
    return a - alpha * b


def total(a, b):
    return a + b


def difference(a, b):
    return a - b


def product(a, b):
    return a * b


def quotient(a, b):
    return a / b


def larger(a, b):
    return np.maximum(a, b)


def smaller(a, b):
    return np.minimum(a, b)


def square_root(a):
    return np.sqrt(a)


def negative(a):
    return -a


def magnitude(a):
    return np.abs(a)


def sign_of(a):
    return np.sign(a)


def inverse(a):
    return 1 / a


def between(a, b, weight):
    return a + weight * (b - a) if weight < 0.5 else b - (b - a) * (1 - weight)


def plus_product(a, b, c, value):
    return a + value * b * c


def plus_quotient(a, b, c, value):
    return a + value * b / c


def replacement(source):
    return source


def with_alpha(other, alpha):
    return (other,), {"alpha": alpha}


def with_value(first, second, value):
    return (first, second), {"value": value}


# ---- what users call ---------------------------------------------------------------------------------------

def publish_pair(name, call, change):
    for suffix, function in (("", call), ("_", change)):
        function.__name__ = function.__qualname__ = f"_foreach_{name}{suffix}"
        publish(function.__name__, function, ("",))


def declare_unary(name, function):
    """`_foreach_<name>(self)`."""
    operation = Foreach(name, function)

    def call(self):
        return operation.call(self)

    def change(self):
        operation.change(self)
    publish_pair(name, call, change)


def declare_binary(name, function, method_of_number=None):
    """`_foreach_<name>(self, other)`: `other` is a list of tensors, a number, or a list of numbers."""
    by_tensors = Foreach(f"{name}.List", function, 2)
    by_number = Foreach(f"{name}.Scalar", function, method=method_of_number)

    def call(self, other):
        return (by_tensors if is_tensors(other) else by_number).call(self, other)

    def change(self, other):
        (by_tensors if is_tensors(other) else by_number).change(self, other)
    publish_pair(name, call, change)


def declare_sum(name, of_tensors, of_number):
    """As declare_binary, with `alpha`, which multiplies `other`."""
    by_tensors = Foreach(f"{name}.List", of_tensors, 2, with_alpha)
    by_number = Foreach(f"{name}.Scalar", of_number)

    def call(self, other, *, alpha=1):
        if is_tensors(other):
            return by_tensors.call(self, other, alpha)
        return by_number.call(self, scaled(other, alpha))

    def change(self, other, *, alpha=1):
        if is_tensors(other):
            by_tensors.change(self, other, alpha)
        else:
            by_number.change(self, scaled(other, alpha))
    publish_pair(name, call, change)


def scaled(number, alpha):
    if isinstance(number, (list, tuple)):
        return [n * alpha for n in number]
    return number if alpha == 1 else number * alpha


def declare_ternary(name, function):
    """`_foreach_<name>(self, tensor1, tensor2, value=1)`: `value` is a number or a list (or 1-D tensor) of them."""
    operation = Foreach(name, function, 3, with_value)

    def call(self, tensor1, tensor2, value=1):
        return operation.call(self, tensor1, tensor2, listed(value))

    def change(self, tensor1, tensor2, value=1):
        operation.change(self, tensor1, tensor2, listed(value))
    publish_pair(name, call, change)


def listed(value):
    return value.tolist() if isinstance(value, Tensor) and value.dim() == 1 else value


for _name, _function in (("sqrt", square_root), ("neg", negative), ("abs", magnitude), ("sign", sign_of),
                         ("reciprocal", inverse)):
    declare_unary(_name, _function)
declare_sum("add", scaled_sum, total)
declare_sum("sub", scaled_difference, difference)
declare_binary("mul", product)
declare_binary("div", quotient)
declare_binary("maximum", larger, "clamp_min")
declare_binary("minimum", smaller, "clamp_max")
declare_ternary("addcmul", plus_product)
declare_ternary("addcdiv", plus_quotient)

lerp = Foreach("lerp", between, 2)
copy = Foreach("copy", replacement, 2, reads=(1,))


def _foreach_lerp(self, tensors1, weight):
    """[a + weight * (b - a)]; `weight`: a number, or a list of numbers or of tensors."""
    if is_tensors(weight):
        return tuple([a.lerp(b, w) for a, b, w in zip(self, tensors1, weight)])
    return lerp.call(self, tensors1, weight)


def _foreach_lerp_(self, tensors1, weight):
    """In-place version of `_foreach_lerp`."""
    if is_tensors(weight):
        for a, b, w in zip(self, tensors1, weight):
            a.lerp_(b, w)
    else:
        lerp.change(self, tensors1, weight)


def _foreach_copy_(self, src, non_blocking=False):
    """Copy the tensors of `src` into those of `self`."""
    copy.change(self, src)


def _foreach_zero_(self):
    """Fill all tensors with zeros."""
    for t in self:
        t.zero_()


def _foreach_norm(self, ord=2, dtype=None):
    """The norm of each tensor's elements, 0-dim tensors."""
    norm = exports["linalg"]["vector_norm"]
    return tuple([norm(t, ord, dtype=dtype) for t in self])


for _function in (_foreach_lerp, _foreach_lerp_, _foreach_copy_, _foreach_zero_, _foreach_norm):
    publish(_function.__name__, _function, ("",))
