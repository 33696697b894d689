"""Shape and stride arithmetic: what every view operation computes, without a tensor in sight.

A tensor's geometry says where its elements lie:

- ``shape``: a tuple of sizes, one per dimension;
- ``stride``: a tuple of steps **in elements**, one per dimension;
- ``offset``: the position, in elements, of its first element in the storage.

Element ``t[i, j, ...]`` lies at ``offset + i * stride[0] + j * stride[1] + ...``.  A view operation moves no
data: it is a function from one geometry to another.  Those functions stand here, each taking
``(shape, stride, offset, ...)`` and returning ``(shape, stride, offset)``.

Sizes and strides are plain ints; checking that an argument *is* an int is left to the operators. A dimension
may be anything that Python takes as an index.
"""

import warnings
from functools import lru_cache
from math import prod
from operator import index

# Sizes and dimensions.


def numel(shape):
    """Return the number of elements of a tensor of this shape (1 for a 0-dim tensor)."""
    return prod(shape)


def check_storage_size(shape, itemsize):
    """Check that 64 bits can say how many bytes a tensor of this shape has.

    Raises:
        RuntimeError: they cannot.
    """
    nbytes = itemsize
    for size in shape:
        nbytes *= size
        if nbytes >= 2 ** 63:
            raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")


def wrap_dim(dim, ndim):
    """Return ``dim`` counted from the front; negative dims count from the back.

    A 0-dim tensor accepts 0 and -1, as if it had one dimension.

    Raises:
        IndexError: ``dim`` is not in ``[-ndim, ndim - 1]``.
        TypeError: ``dim`` is no int.
        ValueError: ``dim`` has more than 64 bits.
    """
    if dim.__class__ is not int:
        dim = as_int(dim)
    if 0 <= dim < ndim:
        return dim
    if -ndim <= dim < 0:
        return dim + ndim
    if ndim == 0 and (dim == 0 or dim == -1):
        return 0
    check_64_bits(dim)
    last = max(ndim, 1)
    raise IndexError(
        f"Dimension out of range (expected to be in range of [{-last}, {last - 1}], but got {dim})"
    )


def check_64_bits(number):
    """Check that dims, indices and counts are signed 64-bit integers.

    Raises:
        ValueError: this one is not.
    """
    if not -2 ** 63 <= number < 2 ** 63:
        raise ValueError("Overflow when unpacking long long")


def as_int(value, argument="dim"):
    """Return an int for what Python takes as an index, bool apart.

    Raises:
        TypeError: anything else; names the ``argument``.
    """
    if isinstance(value, bool):
        raise TypeError(f"argument '{argument}' must be int, not bool")
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"argument '{argument}' must be int, not {type(value).__name__}") from None


def wrap_dims(dims, ndim):
    """Return every dim counted from the front, in the order given.

    Raises:
        IndexError: a dim is out of range.
        RuntimeError: a dim is named twice.
    """
    wrapped = []
    for dim in dims:
        dim = wrap_dim(dim, ndim)
        if dim in wrapped:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
        wrapped.append(dim)
    return tuple(wrapped)


def broadcast_shapes(*shapes):
    """Return the shape that all shapes broadcast to.

    Shapes are aligned at the last dimension; where sizes differ, one of them must be 1.

    Raises:
        RuntimeError: two sizes differ and neither is 1.
    """
    result = shapes[0] if shapes else ()
    for shape in shapes[1:]:
        if shape != result:
            result = _broadcast_pair(result, shape)
    return result


@lru_cache(maxsize=4096)
def _broadcast_pair(a, b):
    ndim = max(len(a), len(b))
    a = (1,) * (ndim - len(a)) + a
    b = (1,) * (ndim - len(b)) + b
    # From the last dimension on, so that the error names the dimension PyTorch names.
    for dim in range(ndim - 1, -1, -1):
        if a[dim] != b[dim] and a[dim] != 1 and b[dim] != 1:
            raise RuntimeError(
                f"The size of tensor a ({a[dim]}) must match the size of tensor b ({b[dim]}) "
                f"at non-singleton dimension {dim}"
            )
    return tuple([y if x == 1 else x for x, y in zip(a, b)])


def infer_size(shape, count):
    """Return ``shape`` with its -1, if any, replaced so that it holds ``count`` elements.

    Raises:
        RuntimeError: two -1, a size below -1, a number of elements that does not fit,
            or a -1 that could be any value because the tensor is empty.
    """
    if -1 not in shape:
        if min(shape, default=0) < 0:
            _check_sizes(shape)
        if numel(shape) != count:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
        return tuple(shape)
    _check_sizes(shape)
    return _fill_unknown(tuple(shape), count)


def _check_sizes(shape):
    unknown = 0
    for position, size in enumerate(shape):
        unknown += size == -1
        if unknown > 1:
            raise RuntimeError("only one dimension can be inferred")
        if size < -1:
            raise RuntimeError(
                f"invalid shape dimension {size} at index {position} of shape {list(shape)}"
            )


def _fill_unknown(shape, count):
    known = -numel(shape)  # the single -1 flips the sign of the product
    if known == 0 and count == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified "
            "dimension size -1 can be any value and is ambiguous"
        )
    if known == 0 or count % known:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
    position = shape.index(-1)
    return shape[:position] + (count // known,) + shape[position + 1:]


# Layouts in memory.


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


def preserve_format_strides(shape, stride):
    """Return the strides `clone`, `empty_like` and `to` give a copy under ``torch.preserve_format``.

    A dense tensor keeps its strides; any other gets dense ones that keep the order of its dimensions.
    """
    if is_non_overlapping_and_dense(shape, stride):
        return stride
    return _strides_in_order(shape, _dims_by_stride(shape, stride))


def _dims_by_stride(shape, stride):
    """Sort the dims, densest first.

    A stride of 0 compares with nothing, hence no ordinary sort: PyTorch walks each dim towards the front,
    passing over the dims it cannot be compared with, until one that is denser stops it.
    """
    order = list(range(len(shape) - 1, -1, -1))
    for start in range(1, len(order)):
        place = start
        for other in range(start - 1, -1, -1):
            comparison = _compare_dims(shape, stride, order[other], order[place])
            if comparison < 0:
                break
            if comparison > 0:
                order[other], order[place] = order[place], order[other]
                place = other
    return order


def _compare_dims(shape, stride, a, b):
    """Return a positive number if dim ``b`` is denser than ``a``, negative for the reverse, 0 if neither."""
    if stride[a] == 0 or stride[b] == 0:
        return 0
    if stride[a] != stride[b]:
        return stride[a] - stride[b]
    return 1 if shape[a] > shape[b] else 0


# Picking: select, narrow, slice, unbind, split.


def select(shape, stride, offset, dim, index):
    """Fix one dimension at ``index``; the dimension goes away.

    Raises:
        IndexError: a 0-dim tensor, ``dim`` or ``index`` out of range.
    """
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, len(shape))
    size = shape[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {dim}"
        )
    if index < 0:
        index += size
    return shape[:dim] + shape[dim + 1:], stride[:dim] + stride[dim + 1:], offset + index * stride[dim]


def narrow(shape, stride, offset, dim, start, length):
    """Keep ``length`` consecutive indices of a dimension, from ``start`` on (negative: from the end).

    Raises:
        IndexError: ``dim`` or ``start`` out of range.
        RuntimeError: a 0-dim tensor, a negative length, or an end beyond the dimension.
    """
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    dim = wrap_dim(dim, len(shape))
    size = shape[dim]
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    if start < 0:
        start += size
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return _replace(shape, dim, length), stride, offset + start * stride[dim]


def slice_(shape, stride, offset, dim=0, start=None, stop=None, step=1):
    """Keep every ``step``-th index of a dimension from ``start`` up to ``stop``, both clamped as Python does.

    Raises:
        IndexError: a 0-dim tensor, or ``dim`` out of range.
        RuntimeError: a step that is not positive (PyTorch has no negative strides).
    """
    if not shape:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, len(shape))
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    size = shape[dim]
    start = 0 if start is None else _clamp_index(start, size)
    stop = size if stop is None else _clamp_index(stop, size)
    length = max(stop - start + step - 1, 0) // step
    return (
        shape[:dim] + (length,) + shape[dim + 1:],
        stride if step == 1 else _replace(stride, dim, stride[dim] * step),
        offset + start * stride[dim],
    )


def _clamp_index(index, size):
    if index < 0:
        return max(index + size, 0)
    return min(index, size)


def _replace(values, position, value):
    return values[:position] + (value,) + values[position + 1:]


def unbind(shape, stride, offset, dim=0):
    """Return one geometry per index of a dimension, which goes away.

    Raises:
        IndexError: a 0-dim tensor, or ``dim`` out of range.
    """
    dim = wrap_dim(dim, len(shape))
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    rest = shape[:dim] + shape[dim + 1:]
    steps = stride[:dim] + stride[dim + 1:]
    step = stride[dim]
    return [(rest, steps, offset + index * step) for index in range(shape[dim])]


def split(shape, stride, offset, sizes, dim=0):
    """Return the geometries of consecutive pieces of the given sizes along a dimension.

    ``sizes`` comes from `split_sizes`, `check_split_sizes` or `chunk_sizes`, which have checked it.
    """
    dim = wrap_dim(dim, len(shape))
    pieces = []
    for size in sizes:
        pieces.append((_replace(shape, dim, size), stride, offset))
        offset += size * stride[dim]
    return pieces


def split_sizes(shape, split_size, dim=0):
    """Return the sizes of pieces of ``split_size`` along a dimension; the last may be smaller.

    Raises:
        RuntimeError: a 0-dim tensor, a negative size, or 0 where the dimension is not empty.
        IndexError: ``dim`` out of range.
    """
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    size = shape[wrap_dim(dim, len(shape))]
    if split_size == 0 and size != 0:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
        )
    return _pieces(size, split_size)


def _pieces(size, piece):
    """Cut ``size`` into pieces, the last with the rest; nothing to cut makes one empty piece."""
    if size == 0:
        return (0,)
    full, rest = divmod(size, piece)
    return (piece,) * full + ((rest,) if rest else ())


def check_split_sizes(shape, sizes, dim=0):
    """Return the sizes of a `split` with an explicit list, after checking that they cover the dimension.

    Raises:
        RuntimeError: a 0-dim tensor, a negative size, or a sum that is not the dimension's size.
        IndexError: ``dim`` out of range.
    """
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    size = shape[wrap_dim(dim, len(shape))]
    if min(sizes, default=0) < 0:
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, "
            f"but got split_sizes={list(sizes)}"
        )
    if sum(sizes) != size:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at "
            f"dimension {dim}), but got split_sizes={list(sizes)}"
        )
    return tuple(sizes)


def chunk_sizes(shape, chunks, dim=0):
    """Return the sizes of at most ``chunks`` equal pieces of a dimension; the last may be smaller.

    Raises:
        RuntimeError: a 0-dim tensor, or ``chunks`` below 1.
        IndexError: ``dim`` out of range.
    """
    if not shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = shape[wrap_dim(dim, len(shape))]
    if size == 0:
        return (0,) * chunks
    return _pieces(size, -(-size // chunks))


# Reordering dimensions.


def transpose(shape, stride, offset, dim0, dim1):
    """Swap two dimensions (also `swapaxes`, `swapdims`).

    Raises:
        IndexError: a dim out of range.
    """
    ndim = len(shape)
    dim0 = wrap_dim(dim0, ndim)
    dim1 = wrap_dim(dim1, ndim)
    if dim0 == dim1:
        return shape, stride, offset
    sizes, steps = list(shape), list(stride)
    sizes[dim0], sizes[dim1] = sizes[dim1], sizes[dim0]
    steps[dim0], steps[dim1] = steps[dim1], steps[dim0]
    return tuple(sizes), tuple(steps), offset


def permute(shape, stride, offset, dims):
    """Reorder the dimensions: number ``i`` of the result is number ``dims[i]`` of the input.

    Raises:
        RuntimeError: ``dims`` has another length than the shape, or names a dim twice.
        IndexError: a dim out of range.
    """
    ndim = len(shape)
    if len(dims) != ndim:
        raise RuntimeError(
            "permute(): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(dims)}"
        )
    sizes, steps, seen = [], [], set()
    for dim in dims:
        dim = wrap_dim(dim, ndim)
        if dim in seen:
            raise RuntimeError("permute(): duplicate dims are not allowed.")
        seen.add(dim)
        sizes.append(shape[dim])
        steps.append(stride[dim])
    return tuple(sizes), tuple(steps), offset


def movedim(shape, stride, offset, source, destination):
    """Move the dims of ``source`` (int or tuple) to the places ``destination``; the others keep their order.

    Raises:
        RuntimeError: different lengths, or a dim named twice.
        IndexError: a dim out of range.
    """
    order = movedim_order(len(shape), _as_dims(source), _as_dims(destination))
    return permute(shape, stride, offset, order)


def movedim_order(ndim, source, destination):
    """Return the `permute` order that moves the dims of ``source`` to ``destination`` (both tuples)."""
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain "
            f"the same number of dims as destination ({list(destination)} dims)"
        )
    moved = [wrap_dim(dim, ndim) for dim in source]
    places = [wrap_dim(dim, ndim) for dim in destination]
    if len(set(moved)) != len(moved):
        raise RuntimeError(f"movedim: repeated dim in `source` ({list(source)})")
    if len(set(places)) != len(places):
        raise RuntimeError(f"movedim: repeated dim in `destination` ({list(destination)})")
    if ndim == 0:
        return ()
    order = [dim for dim in range(ndim) if dim not in moved]
    for place, dim in sorted(zip(places, moved)):
        order.insert(place, dim)
    return tuple(order)


def _as_dims(dims):
    return tuple(dims) if isinstance(dims, (tuple, list)) else (dims,)


def t(shape, stride, offset):
    """Transpose a matrix; a vector or a 0-dim tensor stays as it is.

    Raises:
        RuntimeError: more than 2 dimensions.
    """
    if len(shape) > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {len(shape)}D")
    return shape[::-1], stride[::-1], offset


def numpy_T(shape, stride, offset):
    """Reverse all dimensions (``Tensor.T``); PyTorch warns unless there are 2 of them."""
    if not shape:
        _warn_no_dims("T")
    elif len(shape) != 2:
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated "
            "and it will throw an error in a future release. "
            "Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            stacklevel=3,
        )
    return shape[::-1], stride[::-1], offset


def mT(shape, stride, offset, name="mT"):
    """Swap the last two dimensions (``Tensor.mT``; ``mH`` is the same with a conjugate, and passes its name).

    Raises:
        RuntimeError: exactly 1 dimension.
    """
    if not shape:
        _warn_no_dims(name)
        return shape, stride, offset
    if len(shape) == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return transpose(shape, stride, offset, -2, -1)


def H(shape, stride, offset):
    """Transpose a matrix (``Tensor.H`` without its conjugate).

    Raises:
        RuntimeError: neither 0 nor 2 dimensions.
    """
    ndim = len(shape)
    if ndim == 0:
        _warn_no_dims("H")
        return shape, stride, offset
    if ndim != 2:
        hint = " For batches of matrices, consider using tensor.mH" if ndim > 2 else ""
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.{hint}"
        )
    return transpose(shape, stride, offset, 0, 1)


def _warn_no_dims(name):
    identity = "This function is the identity in these cases."
    advice = "Consider using x.conj()." if name in ("H", "mH") else identity
    warnings.warn(f"Tensor.{name} is deprecated on 0-D tensors. {advice}", stacklevel=4)


# Adding, dropping and growing dimensions.


def unsqueeze(shape, stride, offset, dim):
    """Insert a dimension of size 1 before ``dim`` (``-1``: at the end).

    Raises:
        IndexError: ``dim`` is not in ``[-ndim - 1, ndim]``.
    """
    ndim = len(shape)
    dim = wrap_dim(dim, ndim + 1)
    step = shape[dim] * stride[dim] if dim < ndim else 1
    return shape[:dim] + (1,) + shape[dim:], stride[:dim] + (step,) + stride[dim:], offset


def squeeze(shape, stride, offset, dim=None):
    """Drop dimensions of size 1: all of them, or those of ``dim`` (int or tuple) that have it.

    Raises:
        IndexError: a dim out of range.
        RuntimeError: a dim named twice.
    """
    if dim is None:
        dropped = range(len(shape))
    elif isinstance(dim, (tuple, list)):
        dropped = wrap_dims(dim, len(shape))
    else:
        dropped = (wrap_dim(dim, len(shape)),)
    kept = [d for d, size in enumerate(shape) if size != 1 or d not in dropped]
    return tuple([shape[d] for d in kept]), tuple([stride[d] for d in kept]), offset


def expand(shape, stride, offset, sizes):
    """Repeat dimensions of size 1, and add leading ones, by stepping 0 elements along them.

    A size of -1 keeps the dimension's size; it is not allowed for a new leading dimension.

    Raises:
        RuntimeError: fewer sizes than dimensions, another size for a dimension that is not 1,
            or a negative size.
    """
    sizes = tuple(sizes)
    added = len(sizes) - len(shape)
    if added < 0:
        raise RuntimeError(
            f"expand(tensor of shape {list(shape)}, size={list(sizes)}): "
            f"the number of sizes provided ({len(sizes)}) must be greater or equal to "
            f"the number of dimensions in the tensor ({len(shape)})"
        )
    grown, steps = [], []
    for dim, target in enumerate(sizes[added:]):
        size, step = _expand_dim(shape, stride, dim, target, sizes)
        grown.append(size)
        steps.append(step)
    for dim in range(added - 1, -1, -1):
        _check_leading_size(sizes[dim], dim)
        # A new dimension of size 1 gets the step that `unsqueeze` would give it.
        steps.insert(0, grown[0] * steps[0] if sizes[dim] == 1 and shape else 0)
        grown.insert(0, sizes[dim])
    return tuple(grown), tuple(steps), offset


def _expand_dim(shape, stride, dim, target, sizes):
    size = shape[dim]
    if target == -1 or target == size:
        return size, stride[dim]
    if size != 1 or target < 0:
        raise RuntimeError(
            f"The expanded size of the tensor ({target}) must match the existing size ({size}) at "
            f"non-singleton dimension {dim + len(sizes) - len(shape)}.  Target sizes: {list(sizes)}.  "
            f"Tensor sizes: {list(shape)}"
        )
    return target, 0


def _check_leading_size(size, dim):
    if size < 0:
        raise RuntimeError(
            f"The expanded size of the tensor ({size}) isn't allowed "
            f"in a leading, non-existing dimension {dim}"
        )


# View: the same elements under another shape.


def view(shape, stride, offset, sizes):
    """Give the same elements, in the same order, another shape (one size may be -1).

    Raises:
        RuntimeError: the number of elements does not fit, or no strides can express the new shape.
    """
    new_shape = infer_size(sizes, numel(shape))
    new_stride = view_strides(shape, stride, new_shape)
    if new_stride is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension "
            "spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return new_shape, new_stride, offset


def view_strides(shape, stride, new_shape):
    """Return the strides that show the same elements under ``new_shape``, or None if there are none.

    ``new_shape`` has the right number of elements and no -1.  Source: ``aten/src/ATen/TensorUtils.cpp``.
    """
    if stride == contiguous_strides(shape):
        return contiguous_strides(new_shape)
    if 0 in shape:
        return stride if shape == new_shape else contiguous_strides(new_shape)
    return _tile_chunks(_chunks(shape, stride), new_shape)


def _chunks(shape, stride):
    """Group the dims, last to first, into chunks that memory walks with one constant step.

    Returns a list of (number of elements, step).  A dim joins the chunk behind it if one step along it leads
    as far as that whole chunk, or if it has size 1 and is never stepped along.
    """
    chunks = []
    count, step = shape[-1], stride[-1]
    for dim in range(len(shape) - 2, -1, -1):
        if shape[dim] != 1 and stride[dim] != count * step:
            chunks.append((count, step))
            count, step = 1, stride[dim]
        count *= shape[dim]
    chunks.append((count, step))
    return chunks


def _tile_chunks(chunks, new_shape):
    """Fill every chunk exactly with a run of new dims, or return None where a dim would span two chunks."""
    strides = []
    dim = len(new_shape) - 1
    for count, step in chunks:
        filled = 1
        while dim >= 0 and (filled < count or new_shape[dim] == 1):
            strides.append(filled * step)
            filled *= new_shape[dim]
            dim -= 1
        if filled != count:
            return None
    return tuple(reversed(strides))


def flatten_shape(shape, start_dim=0, end_dim=-1):
    """Return the shape with the dims from ``start_dim`` to ``end_dim`` merged into one; 0-dim becomes (1,).

    Raises:
        IndexError: a dim out of range.
        RuntimeError: ``start_dim`` comes after ``end_dim``.
    """
    start = wrap_dim(start_dim, len(shape))
    end = wrap_dim(end_dim, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    return shape[:start] + (numel(shape[start:end + 1]),) + shape[end + 1:]


def unflatten_shape(shape, dim, sizes):
    """Return the shape after replacing one dim by several, whose sizes (one may be -1) multiply to its size.

    Raises:
        RuntimeError: no sizes, or sizes that do not multiply to the size of the dim.
        IndexError: ``dim`` out of range.
    """
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if not shape:
        raise RuntimeError(f"unflatten: Dimension specified as {dim} but tensor has no dimensions")
    dim = wrap_dim(dim, len(shape))
    _check_sizes(sizes)
    return shape[:dim] + _unflatten_sizes(shape[dim], dim, tuple(sizes)) + shape[dim + 1:]


def _unflatten_sizes(size, dim, sizes):
    try:
        return infer_size(sizes, size)
    except RuntimeError as error:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({size}) "
            "in the input tensor"
        ) from error


# Windows, diagonals, and raw access.


def unfold(shape, stride, offset, dim, size, step):
    """Show all windows of ``size`` along a dimension, ``step`` apart; a window is read along a new last dim.

    Raises:
        IndexError: ``dim`` out of range.
        RuntimeError: a negative size, a size larger than the dimension, or a step that is not positive.
    """
    dim = wrap_dim(dim, len(shape))
    longest = shape[dim] if shape else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > longest:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {longest} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not shape:
        return (size,), (1,), offset
    windows = (longest - size) // step + 1
    return (
        _replace(shape, dim, windows) + (size,),
        _replace(stride, dim, stride[dim] * step) + (stride[dim],),
        offset,
    )


def diagonal(shape, stride, offset, shift=0, dim1=0, dim2=1):
    """Show the diagonal of two dimensions as a new last one.

    ``shift`` is what PyTorch calls ``offset``: positive for a diagonal above the main one, negative below.

    Raises:
        IndexError: a dim out of range.
        RuntimeError: both dims are the same.
    """
    shift = as_int(shift, "offset")
    first = wrap_dim(dim1, len(shape))
    second = wrap_dim(dim2, len(shape))
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rows, columns = shape[first] + min(shift, 0), shape[second] - max(shift, 0)
    length = max(min(rows, columns), 0)
    if length > 0:
        offset += shift * stride[second] if shift >= 0 else -shift * stride[first]
    kept = [dim for dim in range(len(shape)) if dim != first and dim != second]
    return (
        tuple([shape[dim] for dim in kept]) + (length,),
        tuple([stride[dim] for dim in kept]) + (stride[first] + stride[second],),
        offset,
    )


def as_strided(sizes, strides, offset, storage_nbytes, itemsize):
    """Check a geometry that was asked for outright against its storage, and return it.

    Args:
        sizes, strides: tuples of the same length, strides in elements.
        offset: position in the **storage**, whatever the offset of the tensor it was asked from.
        storage_nbytes: the storage's size in bytes.
        itemsize: bytes of one element.

    Raises:
        RuntimeError: lengths differ, a negative number, or an element outside the storage.
            (PyTorch lets a negative size pass beside a size of 0; it is refused here.)
    """
    sizes, strides = tuple(sizes), tuple(strides)
    if len(sizes) != len(strides):
        raise RuntimeError("mismatch in length of strides and shape")
    if min(strides, default=0) < 0:
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(strides)}"
        )
    if min(sizes, default=0) < 0:
        raise RuntimeError(f"as_strided: sizes must be non-negative, got sizes={list(sizes)}")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    needed = storage_extent(sizes, strides, offset) * itemsize
    if needed > storage_nbytes:
        raise RuntimeError(
            f"setStorage: sizes {list(sizes)}, strides {list(strides)}, storage offset {offset}, "
            f"and itemsize {itemsize} requiring a storage size of {needed} "
            f"are out of bounds for storage of size {storage_nbytes}"
        )
    return sizes, strides, offset


def view_as_dtype(shape, stride, offset, old_itemsize, new_itemsize):
    """Read the same bytes as elements of another size: the last dimension shrinks or grows by the ratio.

    Raises:
        RuntimeError: with different sizes of element, a 0-dim tensor, a last stride other than 1, or, for
            larger elements, a size, offset or stride that the ratio does not divide.
    """
    if old_itemsize == new_itemsize:
        return shape, stride, offset
    change = f"to view {old_itemsize}-byte elements as {new_itemsize}-byte elements (different element sizes)"
    if not shape:
        raise RuntimeError(f"self.dim() cannot be 0 {change}")
    if new_itemsize < old_itemsize:
        return _view_as_smaller(shape, stride, offset, old_itemsize // new_itemsize, change)
    return _view_as_larger(shape, stride, offset, new_itemsize // old_itemsize, change)


def _view_as_smaller(shape, stride, offset, ratio, change):
    _check_last_stride(stride, change)
    steps = tuple([step * ratio for step in stride[:-1]]) + (1,)
    return shape[:-1] + (shape[-1] * ratio,), steps, offset * ratio


def _view_as_larger(shape, stride, offset, ratio, change):
    _check_divides(ratio, shape[-1], "size(-1)", change)
    _check_divides(ratio, offset, "storage_offset()", change)
    _check_last_stride(stride, change)
    for dim, step in enumerate(stride[:-1]):
        _check_divides(ratio, step, f"stride({dim})", change)
    steps = tuple([step // ratio for step in stride[:-1]]) + (1,)
    return shape[:-1] + (shape[-1] // ratio,), steps, offset // ratio


def _check_last_stride(stride, change):
    if stride[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {change}, but got {stride[-1]}")


def _check_divides(ratio, value, what, change):
    if value % ratio:
        raise RuntimeError(f"self.{what} must be divisible by {ratio} {change}, but got {value}")
