"""Operators that write into a copy of their first argument, and their in-place twins, from one kernel."""

import warnings

import numpy as np

from ..dispatch import keys as K
from ..dispatch.operator import Operator
from ..kernels.pointwise import silently
from ..tensor import Tensor, array_of, from_array, storage_of, stride_of
from .creation import empty_strided_array
from .declare import (
    declare_inplace,
    describe,
    finish,
    publish,
    rules_name,
    refuse_overlap,
    register_meta,
    require_tensor_out,
    unwrapped,
    write_out,
)
from .elementwise import holds_an_element_twice, refuse_any_overlap, refuse_partial_overlap, those_of_many
from .signature import positional, public_function


def writing(name, fake, vjp=None, jvp=None, inplace=True, out=True, may_overlap=False, apart=True,
            spaces=("", "Tensor")):
    """Declare `name` and `name_` by a function that writes into its first argument, an array.

    The fake rule runs first, always: it refuses what PyTorch refuses, and says how the copy is laid out. What
    only the data shows the function must check itself, before it writes. `may_overlap`: whether `name_` takes
    a tensor whose elements share memory. `apart`: whether `name_` refuses to read the memory that it writes to, since
    the order of its loop would show. `inplace`: whether there is a `name_`.
    """

    def declare(function):
        info = describe(name, "operator", function, vjp, jvp, fake, False, out)
        write = positional(function, info.signature)
        op = Operator(name, info)
        op.register(K.CPU, copying_kernel(fake, write))
        register_meta(op, fake)
        public = finish(op, info, spaces)
        if inplace:
            declare_inplace(op, info, inplace_kernel(name + "_", fake, write, may_overlap, apart))
            info.has_inplace, info.reads_apart = True, apart
        return public

    return declare


def copying_kernel(fake, write):
    def cpu(keys, self, *args):
        result = fresh_copy(array_of(self), fake(self, *args))
        silently(write, result, *[unwrapped(a) for a in args])
        return from_array(result)

    return cpu


def inplace_kernel(name, fake, write, may_overlap, apart):
    def cpu(keys, self, *args):
        if may_overlap:
            warn_of_overlap(name, self)
        else:
            refuse_overlap(self)
            refuse_partial_overlap(self, args)
        if apart:
            refuse_any_overlap(self, those_of_many(args))
        shape = fake(self, *args).shape
        if shape != self._shape:
            raise RuntimeError(
                f"output with shape {list(self._shape)} doesn't match the broadcast shape {list(shape)}"
            )
        silently(write, array_of(self), *[unwrapped(a) for a in args])
        return self

    return cpu


def warn_of_overlap(name, t):
    """Elements that share memory are all written at once, which PyTorch still allows here."""
    if holds_an_element_twice(t):
        example = "tensor[indices] = tensor" if name == "index_put_" else "tensor[mask] = scalar"
        warnings.warn(
            f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing "
            f"this operation. This also applies to advanced indexing e.g. {example}",
            UserWarning,
            stacklevel=4,
        )


def fresh_copy(array, fake):
    """A copy with the shape and strides that the fake rule names."""
    if fake.stride is None:
        result = np.empty(fake.shape, array.dtype)
    else:
        result = empty_strided_array(fake.shape, fake.stride, array.dtype)
    result[...] = array
    return result


def with_separate_out(op, spaces=("", "Tensor")):
    """Publish an operator anew, its `out=` refusing a tensor that shares memory with an argument."""

    def call_out(out, *args):
        require_tensor_out(op.name, out)
        refuse_shared_memory(out, args)
        if out._dtype is not args[0]._dtype:
            raise RuntimeError(
                f"{op.name}(): Expected out tensor to have dtype {args[0]._dtype.name}, but got "
                f"{out._dtype.name} instead"
            )
        return write_out(op, out, args)

    public = public_function(op, op.info.signature, call_out, rules=rules_name(op.name, spaces))
    public.__doc__, public.__module__ = op.info.public.__doc__, op.info.public.__module__
    op.info.public = public
    publish(op.name, public, spaces)


def refuse_shared_memory(out, args):
    stride_of(out)  # a tensor over a broadcast array has strides only once they are asked for
    refuse_overlap(out)
    for a in args:
        if isinstance(a, Tensor) and a.numel() and storage_of(a) is storage_of(out):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor refer "
                "to a single memory location. Please clone() the tensor before performing the operation."
            )
