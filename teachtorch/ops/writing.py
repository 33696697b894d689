"""Operators that write into a copy of their first argument, and their in-place twins, from one kernel."""
import numpy as np

from ..core import geometry
from ..dispatch import keys as K
from ..dispatch.operator import Operator
from ..tensor import array_of, from_array, stride_of
from .creation import empty_strided_array
from .declare import checked_meta, declare_inplace, describe, finish, refuse_overlap, register_meta, unwrapped
from .fake import Fake
from .signature import positional


def writing(name, fake, vjp=None, jvp=None, inplace=True, out=True, may_overlap=False,
            spaces=("", "Tensor")):
    """Declare `name` and `name_` by a function that writes into its first argument, an array.

    The fake rule runs first, always: it refuses what PyTorch refuses, and says how the copy is laid out. What can
    only be seen in the data the function must check itself before it writes. `may_overlap`: whether `name_` takes a
    tensor whose elements share memory. `inplace`: whether there is a `name_`.
    """
    def declare(function):
        info = describe(name, "operator", function, vjp, jvp, fake, False, out)
        write = positional(function, info.signature)
        op = Operator(name, info)
        op.register(K.CPU, copying_kernel(fake, write))
        register_meta(op, fake)
        public = finish(op, info, spaces)
        if inplace:
            declare_inplace(op, info, inplace_kernel(fake, write, may_overlap))
            info.has_inplace = True
        return public
    return declare


def copying_kernel(fake, write):
    def cpu(keys, self, *args):
        result = fresh_copy(array_of(self), fake(self, *args))
        write(result, *[unwrapped(a) for a in args])
        return from_array(result)
    return cpu


def inplace_kernel(fake, write, may_overlap):
    def cpu(keys, self, *args):
        if not may_overlap:
            refuse_overlap(self)
        shape = fake(self, *args).shape
        if shape != self._shape:
            raise RuntimeError(f"output with shape {list(self._shape)} doesn't match the broadcast shape {list(shape)}")
        write(array_of(self), *[unwrapped(a) for a in args])
        return self
    return cpu


def fresh_copy(array, fake):
    """A copy with the shape and strides that the fake rule names."""
    if fake.stride is None:
        result = np.empty(fake.shape, array.dtype)
    else:
        result = empty_strided_array(fake.shape, fake.stride, array.dtype)
    result[...] = array
    return result


def contiguous_like(self, *args):
    """The fake rule of a contiguous copy."""
    return Fake(self._shape, self._dtype)


def preserved_like(self):
    """A copy's Fake: dense, in the stride order of the original."""
    return Fake(self._shape, self._dtype, geometry.preserve_format_strides(self._shape, stride_of(self)))
