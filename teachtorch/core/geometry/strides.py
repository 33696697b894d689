"""Layouts in memory: the strides of new tensors, and what given strides say of contiguity, density and overlap."""

from functools import lru_cache

from .sizes import _broadcast_pair, numel


@lru_cache(maxsize=4096)
def contiguous_strides(shape):
    """Return the strides of a freshly made tensor: the last dimension is densest.

    A size of 0 counts as 1, so that an empty tensor's strides still say how it is laid out.
    """
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def is_contiguous(shape, stride):
    """Tell whether walking the tensor in index order walks its memory one element at a time.

    Dimensions of size 1 are never stepped along, so their strides do not matter.
    An empty tensor is contiguous.
    """
    if stride == contiguous_strides(shape):
        return True
    return 0 in shape or _packed_in_order(shape, stride, range(len(shape) - 1, -1, -1))


def _packed_in_order(shape, stride, dims):
    """Tell whether the dims, densest first, follow each other in memory without a gap."""
    expected = 1
    for dim in dims:
        if shape[dim] != 1:
            if stride[dim] != expected:
                return False
            expected *= shape[dim]
    return True


# Densest dimension first: channels, then width, height (depth), and the batch last.
_CHANNELS_LAST_ORDER = {4: (1, 3, 2, 0), 5: (1, 4, 3, 2, 0)}


def is_channels_last(shape, stride):
    """Tell whether a 4-d (N, C, H, W) or 5-d (N, C, D, H, W) tensor keeps a pixel's channels side by side.

    Any other number of dimensions answers False.  Unlike in `is_contiguous`, an empty tensor is no exception.
    """
    order = _CHANNELS_LAST_ORDER.get(len(shape))
    return order is not None and _packed_in_order(shape, stride, order)


def channels_last_strides(shape):
    """Return the strides of a channels-last tensor: (N, C, H, W) gets (C*H*W, 1, W*C, C); 5-d likewise.

    Raises:
        RuntimeError: the shape has neither 4 nor 5 dimensions.
    """
    order = _CHANNELS_LAST_ORDER.get(len(shape))
    if order is None:
        raise RuntimeError(
            "required rank 4 tensor to use channels_last format (rank 5 for channels_last_3d), "
            f"but got shape {list(shape)}"
        )
    return _strides_in_order(shape, order, smallest=0)


def _strides_in_order(shape, dims, smallest=1):
    """Pack the dims, densest first; a size below ``smallest`` counts as ``smallest``."""
    strides = [0] * len(shape)
    step = 1
    for dim in dims:
        strides[dim] = step
        step *= max(shape[dim], smallest)
    return tuple(strides)


def is_non_overlapping_and_dense(shape, stride):
    """Tell whether the elements fill one block of memory, each place once, in any order of dimensions."""
    if is_contiguous(shape, stride):
        return True
    stepped = [dim for dim, size in enumerate(shape) if size != 1]
    stepped.sort(key=lambda dim: stride[dim])
    return _packed_in_order(shape, stride, stepped)


def has_internal_overlap(shape, stride):
    """Tell whether two indices surely meet in one place, as after `expand`.

    In-place operators refuse such a tensor.  Like PyTorch, this sees only zero strides:
    ``as_strided((3, 2), (1, 1))`` overlaps too, but goes unnoticed.
    """
    if 0 not in stride or 0 in shape:
        return False
    return any(step == 0 and size > 1 for size, step in zip(shape, stride))


def overlaps_partly(first, second):
    """Tell whether two tensors over one storage share some places, but are not the same elements in order.

    Each is ``(shape, stride, offset, itemsize)``. Like PyTorch (aten/src/ATen/MemoryOverlap.cpp), this looks only
    at dense tensors: two slices with a step may interleave and share nothing.
    """
    is_same = _dense_bytes(*first) == _dense_bytes(*second) and first[1] == second[1]
    return not is_same and overlaps(first, second)


def overlaps(first, second):
    """Tell whether two dense tensors over one storage, given as for `overlaps_partly`, share any place."""
    for shape, stride, _, _ in (first, second):
        if 0 in shape or not is_non_overlapping_and_dense(shape, stride):
            return False
    (begin, end), (other_begin, other_end) = _dense_bytes(*first), _dense_bytes(*second)
    return begin < other_end and other_begin < end


def _dense_bytes(shape, stride, offset, itemsize):
    begin = offset * itemsize
    return begin, begin + numel(shape) * itemsize


def storage_extent(shape, stride, offset):
    """Return how many elements the storage must hold: the last position reached plus one, 0 if empty."""
    if 0 in shape:
        return 0
    return offset + sum([(size - 1) * step for size, step in zip(shape, stride)]) + 1


@lru_cache(maxsize=4096)
def preserve_format_strides(shape, stride):
    """Return the strides `clone`, `empty_like` and `to` give a copy under ``torch.preserve_format``.

    A dense tensor keeps its strides; any other gets dense ones that keep the order of its dimensions.
    """
    if is_non_overlapping_and_dense(shape, stride):
        return stride
    return strides_following(shape, stride)


def strides_following(shape, *operands):
    """Return dense strides whose dimensions lie in the order of several operands' strides.

    Each operand is a tuple of strides over ``shape``; the first one that tells two dimensions apart decides.
    """
    return _strides_in_order(shape, _dims_by_stride(shape, operands))


def _dims_by_stride(shape, operands):
    """Sort the dims, densest first.

    A stride of 0 compares with nothing, hence no ordinary sort: PyTorch walks each dim towards the front,
    passing over the dims it cannot be compared with, until one that is denser stops it.
    """
    order = list(range(len(shape) - 1, -1, -1))
    for start in range(1, len(order)):
        place = start
        for other in range(start - 1, -1, -1):
            comparison = _compare_dims(shape, operands, order[other], order[place])
            if comparison < 0:
                break
            if comparison > 0:
                order[other], order[place] = order[place], order[other]
                place = other
    return order


def _compare_dims(shape, operands, a, b):
    """Return a positive number if dim ``b`` is denser than ``a``, negative for the reverse, 0 if neither."""
    for stride in operands:
        if stride[a] == 0 or stride[b] == 0:
            continue
        if stride[a] != stride[b]:
            return stride[a] - stride[b]
        if shape[a] > shape[b]:
            return 1
    return 0


def forget():
    """Forget what was computed: keys and results may be ints of a kind that should not live on (jit/sizes.py)."""
    contiguous_strides.cache_clear()
    _broadcast_pair.cache_clear()
