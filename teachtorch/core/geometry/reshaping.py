"""Views under another shape: view, flatten, windows, diagonals, and geometries asked for outright."""

from .sizes import as_int, check_sizes, infer_size, numel, replaced, wrap_dim
from .strides import contiguous_strides, storage_extent


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
    check_sizes(sizes)
    return shape[:dim] + _unflatten_sizes(shape[dim], dim, tuple(sizes)) + shape[dim + 1:]


def _unflatten_sizes(size, dim, sizes):
    try:
        return infer_size(sizes, size)
    except RuntimeError as error:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({size}) "
            "in the input tensor"
        ) from error


# ---- windows, diagonals, and raw access ----


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
        replaced(shape, dim, windows) + (size,),
        replaced(stride, dim, stride[dim] * step) + (stride[dim],),
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
