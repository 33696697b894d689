"""Layouts and memory formats: the names users give to the order of elements in memory."""
from . import geometry


class _Named:
    """One of a few values that PyTorch prints and pickles by their names."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return self.name


class layout(_Named):
    """How a tensor's elements are kept: torch.strided, or torch.sparse_coo."""

    __slots__ = ()


class memory_format(_Named):
    """An order of dimensions in memory, for `contiguous`, `to`, `clone`, `empty` and the like."""

    __slots__ = ()


strided = layout("strided")
sparse_coo = layout("sparse_coo")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")

_RANKS = {channels_last: 4, channels_last_3d: 5}


def strides_in(wanted, shape, stride=None):
    """The strides of a new tensor in a memory format; `stride` is the original's, for preserve_format.

    RuntimeError where channels_last meets another number of dimensions than 4 (channels_last_3d: 5).
    """
    if wanted is preserve_format and stride is not None:
        return geometry.preserve_format_strides(shape, stride)
    if wanted is None or wanted is contiguous_format:
        return geometry.contiguous_strides(shape)
    if wanted is preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    check_rank(wanted, shape)
    return geometry.channels_last_strides(shape)


def check_rank(wanted, shape):
    rank = _RANKS.get(wanted)
    if rank is not None and len(shape) != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {wanted.name} format")


def is_in(wanted, shape, stride):
    """Whether elements lie in the order of a format (`is_contiguous`); sizes of 1 fit more than one."""
    if wanted is None or wanted is contiguous_format:
        return geometry.is_contiguous(shape, stride)
    if wanted is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return len(shape) == _RANKS[wanted] and geometry.is_channels_last(shape, stride)


def suggested(shape, stride):
    """The one format that a geometry speaks for, where sizes of 1 would fit several."""
    if len(shape) == 4 and _strides_ascend(shape, stride, (1, 3, 2, 0)):
        return channels_last
    if len(shape) == 5 and _strides_ascend(shape, stride, (1, 4, 3, 2, 0)):
        return channels_last_3d
    return contiguous_format


def _strides_ascend(shape, stride, dims):
    """c10/core/MemoryFormat.h, is_channels_last_strides_2d_s4: each stride spans what lies below it."""
    least = 0
    if stride[1] == 0:
        return False
    for dim in dims:
        if shape[dim] == 0 or stride[dim] < least or dim == 0 and least == stride[1]:
            return False
        least = stride[dim] * max(shape[dim], 1)
    return True
