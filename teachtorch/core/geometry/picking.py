"""Views of a part of the elements: select, narrow, slice, unbind, split."""

from .sizes import replaced, wrap_dim


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
    return replaced(shape, dim, length), stride, offset + start * stride[dim]


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
        stride if step == 1 else replaced(stride, dim, stride[dim] * step),
        offset + start * stride[dim],
    )


def _clamp_index(index, size):
    if index < 0:
        return max(index + size, 0)
    return min(index, size)


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
        pieces.append((replaced(shape, dim, size), stride, offset))
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
