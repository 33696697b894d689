"""Operators whose results lie in memory as an argument does: the convolution of channels-last images is channels-last.

`operator(..., format_of=("input", "weight"))` names the arguments that decide. One of them that speaks for
channels_last is enough; the results of its rank follow, the others (statistics, parameters' gradients) do not.
"""
import numpy as np

from ..core import geometry
from ..core.layout import contiguous_format, suggested
from ..tensor import array_of, from_array, stride_of


def followed_rank(args, positions):
    """The rank of the results to be laid out channels-last; 0 for none."""
    for position in positions:
        t = args[position]
        rank = len(t._shape)
        if rank in (4, 5) and suggested(t._shape, stride_of(t)) is not contiguous_format:
            return rank
    return 0


def following_fake(fake, positions):
    """The fake rule `fake`, with the strides of the results in the format of the arguments at `positions`."""
    def in_format(*args):
        found = fake(*args)
        rank = followed_rank(args, positions)
        for one in found if isinstance(found, (tuple, list)) else (found,):
            if rank and len(one.shape) == rank and one.stride is None:
                one.stride = geometry.channels_last_strides(one.shape)
        return found
    return in_format


def following_kernel(kernel, positions):
    """The CPU kernel, with its results copied into the format of the arguments at `positions`."""
    def in_format(keys, *args):
        found = kernel(keys, *args)
        rank = followed_rank(args, positions)
        if not rank:
            return found
        if isinstance(found, (tuple, list)):
            return remade(found, [laid_out(t, rank) for t in found])
        return laid_out(found, rank)
    return in_format


def remade(found, parts):
    """A tuple or a named tuple of other tensors."""
    return type(found)(*parts) if hasattr(found, "_fields") else tuple(parts)


def laid_out(t, rank):
    """A copy whose channels lie side by side, if the tensor has as many dimensions as `rank`."""
    if len(t._shape) != rank:
        return t
    stride = geometry.channels_last_strides(t._shape)
    new = empty_strided_array(t._shape, stride, t._dtype.numpy)
    np.copyto(new, array_of(t))
    made = from_array(new, t._dtype)
    made._stride = stride
    return made


def empty_strided_array(size, stride, dtype):
    """An uninitialised array with the given strides in elements."""
    flat = np.empty(geometry.storage_extent(size, stride, 0), dtype)
    return np.ndarray(size, dtype, flat, 0, tuple([s * flat.itemsize for s in stride])) if flat.size \
        else np.empty(size, dtype)
