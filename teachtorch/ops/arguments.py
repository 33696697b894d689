"""Arguments as users pass them.

Sizes are `f(2, 3)`, `f((2, 3))` or `f(size=(2, 3))`, of ints, NumPy ints or integer tensors. A dtype may be
Python's float, int or bool.
"""
import operator

import numpy as np

from ..autograd.meta import tracks
from ..core import dtype as dt
from ..core import observer
from ..dispatch.state import state
from ..tensor import Tensor

_SEQUENCES = (tuple, list)


def as_sizes(values, function, argument="size"):
    """A tuple of ints from the positional arguments `values` of a function. TypeError for anything else."""
    if len(values) == 1 and isinstance(values[0], _SEQUENCES):
        values = values[0]
    if values.__class__ is not tuple:
        values = tuple(values)
    for value in values:
        if value.__class__ is not int or not -2 ** 63 <= value < 2 ** 63:
            return tuple([as_int(v, i, function, argument) for i, v in enumerate(values)])
    return values


def as_int(value, position, function, argument):
    if isinstance(value, (int, np.integer, Tensor)) and not isinstance(value, bool):
        size = operator.index(value)
        if not -2 ** 63 <= size < 2 ** 63:
            raise TypeError(f"{function}(): argument '{argument}' failed to unpack the object at pos {position + 1} "
                            'with error "Overflow when unpacking long long"')
        return size
    raise TypeError(f"{function}(): argument '{argument}' (position 1) must be tuple of ints, but found "
                    f"element of type {type(value).__name__} at pos {position}")


def require_kind(value, kinds, wanted, function, argument, position=None):
    """TypeError for an argument that is of none of the classes `kinds`; True and False are no numbers."""
    if not isinstance(value, kinds) or isinstance(value, bool) and bool not in kinds:
        place = "" if position is None else f" (position {position})"
        raise TypeError(f"{function}(): argument '{argument}'{place} must be {wanted}, not {type(value).__name__}")


def require_bool(value, function, argument, position=None):
    """TypeError for anything but True and False: numbers, strings and lists have a truth value, too."""
    if value is not True and value is not False:
        require_kind(value, (bool,), "bool", function, argument, position)


def require_float(value, function, argument, position=None):
    """TypeError for anything but a number, or a tensor that stands for one."""
    if value.__class__ is not float:
        require_kind(value, (bool, int, float, np.number, Tensor), "float", function, argument, position)


def size_argument(value, function, argument="size", position=1):
    """The sizes in one argument, which must be a tuple or list: `full((2,), 3)`."""
    if not isinstance(value, _SEQUENCES):
        raise TypeError(f"{function}(): argument '{argument}' (position {position}) must be tuple of ints, "
                        f"not {type(value).__name__}")
    return as_sizes((value,), function, argument)


def method_of_sizes(op, argument, doc, direct=None):
    """The method `t.op(2, 3)` of an operator that takes one tuple of ints.

    Its only tensor is `self`, whose keys choose the kernel. `direct`: what a composition calls while nobody
    observes.
    """
    name, chosen = op.name, op._chosen

    def method(self, *sizes, **named):
        if named:
            sizes = sizes_by_name(sizes, named, name, argument)
        elif not sizes:
            raise TypeError(f'{name}() missing 1 required positional arguments: "{argument}"')
        sizes = as_sizes(sizes, name, argument)
        if direct is not None and not observer.active:
            return direct(self, sizes)
        keys = (self._keys | state.included) & ~state.excluded
        if observer.active:
            return op._observed(keys, (self, sizes))
        return (chosen.get(keys) or op.choose(keys))(keys, self, sizes)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = doc
    return method


def sizes_by_name(values, named, function, argument):
    """`f(size=(2, 3))`."""
    if values or set(named) != {argument}:
        unexpected = next((n for n in named if n != argument), argument)
        raise TypeError(f"{function}() got an unexpected keyword argument '{unexpected}'")
    given = named[argument]
    return tuple(given) if isinstance(given, _SEQUENCES) else (given,)


def as_dtype(given, function):
    """A dtype, also from Python's float, int and bool. TypeError for anything else."""
    if isinstance(given, dt.dtype):
        return given
    if isinstance(given, type) and given in dt.PYTHON_TYPES:
        return dt.PYTHON_TYPES[given]
    raise TypeError(f"{function}(): argument 'dtype' must be torch.dtype, not {type(given).__name__}")


PYTHON_DTYPES = tuple(dt.PYTHON_TYPES)


def refuse_gradient(function, argument, value):
    """RuntimeError for a tensor that wants a gradient as an argument by which nobody can differentiate: it would be
    left untrained without a word."""
    if isinstance(value, Tensor) and state.grad_enabled and tracks(value):
        raise RuntimeError(f"The function '{function}' is not differentiable with respect to argument '{argument}'. "
                           "This input cannot have requires_grad True.")
