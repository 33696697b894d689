"""Which dtype results when dtypes meet: PyTorch's promotion rule with its three classes of operand.

Tensors with dimensions, 0-dim tensors and Python numbers form three classes. A lower class changes the result only
if its *category* (bool < integral < floating) is higher than that of every class above it; its width never does.
https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""
import numbers

import numpy as np

from . import dtype as dt
from . import settings


def promote_types(a, b):
    """The smallest dtype that holds both `a` and `b` (torch.promote_types)."""
    if a is b:
        return a
    if a.category != b.category:
        return a if a.category > b.category else b
    return _promote_floats(a, b) if a.category == dt.FLOATING else _promote_integers(a, b)


def _promote_floats(a, b):
    if a.itemsize != b.itemsize:
        return a if a.itemsize > b.itemsize else b
    return dt.float32                              # float16 with bfloat16: neither holds the other


def _promote_integers(a, b):
    if dt.uint8 not in (a, b):
        return a if a.itemsize > b.itemsize else b
    signed = b if a is dt.uint8 else a             # uint8 needs nine bits of a signed type
    return signed if signed.itemsize > 1 else dt.int16


def dtype_of_number(value):
    """The dtype that a Python or NumPy number stands for in promotion; floats take the default dtype.

    NumPy's bools are neither Python's nor integers to PyTorch, and so pass for floats.
    """
    if value.__class__ is float:         # the usual one; the questions below take longer
        return settings.default_dtype
    if isinstance(value, bool):
        return dt.bool
    if isinstance(value, numbers.Integral):
        return dt.int64
    if isinstance(value, (numbers.Real, np.bool_)):
        return settings.default_dtype
    raise TypeError(f"a number was expected, not {type(value).__name__}")


def check_64_bits(number):
    """OverflowError, in Python's words, for an int that neither 64 signed bits nor 64 unsigned ones hold."""
    if number.__class__ is int and not -2 ** 63 <= number < 2 ** 64:
        raise OverflowError("int too big to convert" if number > 0 else "can't convert negative int to unsigned")


def combine(dimensioned, zero_dim, number):
    """The result dtype of the three classes, each given as a dtype or None where no operand is of that class."""
    result = dimensioned
    for lower in (zero_dim, number):
        if lower is not None and (result is None or lower.category > result.category):
            result = lower if result is None else _raise_category(result, lower)
    return result


def _raise_category(result, lower):
    return lower if lower.category > result.category else result


def can_cast(from_, to):
    """Whether a result of dtype `from_` may be stored in a tensor of dtype `to` (never down a category)."""
    return from_.category <= to.category
