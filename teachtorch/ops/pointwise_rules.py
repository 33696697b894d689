"""What the declarations of pointwise operators share: looks at arguments, forms per dtype, other names."""

import functools

import numpy as np

from ..autograd.derivative import Derivatives
from ..autograd.record import inplace_kernel
from ..core import dtype as dt
from ..core import observer
from ..core.dtype import scalar_type_name
from ..dispatch import keys as K
from ..dispatch.operator import registry
from ..dispatch.overriding import overriding
from ..dispatch.state import state
from ..dispatch.torch_function import asking
from ..kernels.pointwise import Pointwise, cast
from ..kernels.special import each
from ..tensor import Tensor
from . import elementwise
from .declare import exports, pointwise, publish
from .elementwise import SAME, common_dtype
from .fake import require_tensor

NUMBERS = (int, float, np.generic)              # what may stand beside a tensor; bool is an int
OPERANDS = (Tensor, *NUMBERS)


# ---- arguments that need a look before the kernel runs -----------------------------------------------------

def prepared(name, prepare, kind=SAME, **options):
    """`pointwise` for an operator with conditions: the kernels get what `prepare(*arguments)` returns.

    `prepare` raises PyTorch's errors, puts numbers in the place of None, and gives parameters the dtype's
    category. Applied to its own result it must change nothing.
    """
    rule = elementwise.fake_rule(kind)

    def declare(scalar):
        public = pointwise(name, kind=kind, fake=lambda *args: rule(*prepare(*args)), **options)(scalar)
        put_before(name, prepare)
        if name + "_" in registry:
            put_before(name + "_", prepare)
        return public
    return declare


def put_before(name, prepare):
    """Let `prepare` see the arguments before the CPU kernel of the operator `name`.

    Where `prepare.passes` says that operands of these categories need no look, they go straight on.
    """
    op = registry[name]
    kernel, passes = op.own_kernel(K.CPU), getattr(prepare, "passes", None)

    def general(keys, *args):
        return kernel(keys, *prepare(*args))

    def by_first(keys, a, *rest):
        if isinstance(a, Tensor) and a._dtype.category in passes:
            return kernel(keys, a, *rest)
        return kernel(keys, *prepare(a, *rest))

    def by_two(keys, a, b, *rest):
        if (isinstance(a, Tensor) and a._dtype.category in passes
                and (b._dtype is a._dtype if isinstance(b, Tensor) else b.__class__ in prepare.numbers)):
            return kernel(keys, a, b, *rest)
        return kernel(keys, *prepare(a, b, *rest))

    has_one_operand = len(op.info.signature.names) == 1 or getattr(prepare, "looks_at_first", False)
    op.register(K.CPU, general if passes is None else by_first if has_one_operand else by_two)


def passing(prepare, *categories, numbers=(), looks_at_first=False):
    """Note what `prepare` lets pass: tensors of one dtype of these categories, and such numbers."""
    prepare.passes, prepare.numbers, prepare.looks_at_first = frozenset(categories), numbers, looks_at_first
    return prepare


def not_implemented(kernel, dtype):
    """PyTorch's error for a dtype that a kernel does not serve; `kernel` is its name there."""
    return NotImplementedError(f'"{kernel}" not implemented for \'{scalar_type_name(dtype)}\'')


CATEGORIES = frozenset([dt.BOOL, dt.INTEGRAL, dt.FLOATING])


def refusing(kernel, *categories):
    """A `prepare` that refuses operands of these categories (BOOL, INTEGRAL, FLOATING)."""
    def prepare(*args):
        dtype = common_dtype(args)
        if dtype.category in categories:
            raise not_implemented(kernel, dtype)
        return args
    return passing(prepare, *CATEGORIES.difference(categories))


def no_halves(kernel):
    """A `prepare` that refuses the 16-bit floats, which PyTorch's kernels of special functions do not serve."""
    def prepare(*args):
        dtype = common_dtype(args)
        if dtype.category == dt.FLOATING and dtype.itemsize == 2:
            raise not_implemented(kernel, dtype)
        return args
    return passing(prepare, dt.BOOL, dt.INTEGRAL)


def floats_only(kernel):
    """A `prepare` that looks at the first argument's dtype alone, the others being parameters."""
    def prepare(*args):
        if args[0]._dtype.category != dt.FLOATING:
            raise not_implemented(kernel, args[0]._dtype)
        return args
    return passing(prepare, dt.FLOATING, looks_at_first=True)


def anything(*args):
    return args


passing(anything, *CATEGORIES)


def tensors_only(operator, *names, then=anything):
    """A `prepare` that refuses numbers in the place of tensors; `names` are the tensors' in order."""
    def prepare(*args):
        for position, (value, name) in enumerate(zip(args, names), start=1):
            require_tensor(value, operator, "input" if name == "self" else name, position)
        return then(*args)
    return passing(prepare, *getattr(then, "passes", ()))


# ---- scalar and NumPy forms --------------------------------------------------------------------------------

class Forms:
    """A one-element function with one form for integers and one for floats; bool has none unless given."""

    def __init__(self, integer, floating, boolean=None):
        self.__name__ = floating.__name__
        self.variants = {d.name: integer if d.category == dt.INTEGRAL else floating
                         for d in dt.ALL if d.category != dt.BOOL}
        if boolean is not None:
            self.variants["bool"] = boolean

    def __call__(self, *values):
        return self.variants[np.asarray(values[0]).dtype.name](*values)


HALVES = frozenset([dt.float16.numpy, dt.bfloat16.numpy])


def widened(function, over_first=None):
    """A function of arrays that computes halves in float32 and rounds once, as PyTorch does.

    over_first: the same for floats, written over the first of the arrays, with fewer arrays in between.
    """
    def compute(*arrays):
        if arrays[0].dtype not in HALVES:
            return function(*arrays)
        return np.asarray(function(*[cast(a, np.float32) for a in arrays])).astype(arrays[0].dtype)
    compute.over_first = over_first
    return compute


# Where NumPy has no function, Python's loop is quicker than a compiler only for a few elements.
FEW = 1024


def looped(python, scalar):
    """A function of one array that NumPy lacks: `python` for few elements, the compiled `scalar` for more."""
    compiled, loop = Pointwise(scalar), each(python)

    def compute(x):
        return compiled(x) if x.size > FEW else loop(cast(x, np.float64)).astype(x.dtype, copy=False)
    return compute


# ---- other names -------------------------------------------------------------------------------------------

def also_called(name, *aliases):
    """Publish an operator and its in-place variant under other names too."""
    for suffix in ("", "_"):
        for space in ("", "Tensor"):
            function = exports.get(space, {}).get(name + suffix)
            for alias in aliases if function is not None else ():
                publish(alias + suffix, function, (space,))


def also_in(space, *names):
    """Publish functions of the main namespace in another one: "special", "nn.functional"."""
    for name in names:
        known_as, _, original = name.partition("=")
        publish(known_as, exports[""][original or known_as], (space,))


def inplace_functions(*names):
    """Publish in-place methods as functions too: torch.exp_(t)."""
    for name in names:
        publish(name + "_", exports["Tensor"][name + "_"], ("",))


def dunder(name, op, *rest):
    """Publish a Python operator, `self <op> other`. What is no tensor or number is left to Python."""
    publish(name, method_with_option(op, *rest) if rest else method_of(op), ("Tensor",))


def left_to_python(self, other):
    return NotImplemented


def method_of(op, fallback=left_to_python):
    """What Operator.__call__ does, for two operands of which the first is a tensor: the shortest way in."""
    chosen, choose, observed = op._chosen, op.choose, op._observed

    def method(self, other):
        if isinstance(other, Tensor):
            keys = self._keys | other._keys
        elif isinstance(other, NUMBERS):
            keys = self._keys
        elif overriding[other.__class__]:
            return op(self, other)
        else:
            return fallback(self, other)
        keys = (keys | state.included) & ~state.excluded
        if observer.active:
            return observed(keys, (self, other))
        return (chosen.get(keys) or choose(keys))(keys, self, other)
    return asking(method)


def method_with_option(op, option):
    """The same for an operator with one further argument."""
    chosen, choose, observed = op._chosen, op.choose, op._observed

    def method(self, other):
        if isinstance(other, Tensor):
            keys = self._keys | other._keys
        elif isinstance(other, NUMBERS):
            keys = self._keys
        elif overriding[other.__class__]:
            return op(self, other, option)
        else:
            return NotImplemented
        keys = (keys | state.included) & ~state.excluded
        if observer.active:
            return observed(keys, (self, other, option))
        return (chosen.get(keys) or choose(keys))(keys, self, other, option)
    return asking(method)


def reflected(name, compute):
    """Publish a reflected Python operator, `other <op> self`: compute(self, other)."""
    def method(self, other):
        if not isinstance(self, Tensor):
            raise TypeError(f"descriptor '{name}' requires a Tensor, not {type(self).__name__}")
        return compute(self, other) if isinstance(other, OPERANDS) else NotImplemented
    publish(name, method, ("Tensor",))


def tensor_first(*names):
    """Let functions of the main namespace refuse a number in the place of `input`."""
    for name in names:
        publish(name, refusing_numbers(name, exports[""][name]), ("",))


def refusing_numbers(name, function):
    @functools.wraps(function)
    def checked(input, *args, **options):
        require_tensor(input, name, "input")
        return function(input, *args, **options)
    return checked


# ---- formulas of in-place operators --------------------------------------------------------------------------------

def keep_result_in_place(name, vjp):
    """Formulas of its own for the in-place operator beside `name`: of the result, so that nothing need be kept of what
    is overwritten. Its node's name ends otherwise, as in PyTorch."""
    op = registry[name + "_"]
    derivatives = Derivatives(name, op.info.signature.names, vjp)
    derivatives.node_class.__name__ = derivatives.node_class.__name__.replace("Backward0", "Backward1")
    op.register(K.AUTOGRAD, inplace_kernel(op, derivatives))
