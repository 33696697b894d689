"""Sizes and dimensions: counting elements, dims from the end, broadcasting, and the one size that may be -1."""

from functools import lru_cache
from math import prod
from operator import index


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
            check_sizes(shape)
        if numel(shape) != count:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
        return tuple(shape)
    check_sizes(shape)
    return _fill_unknown(tuple(shape), count)


def check_sizes(shape):
    """RuntimeError for more than one -1, or a size below it."""
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

def replaced(values, position, value):
    """The tuple with another value at a position."""
    return values[:position] + (value,) + values[position + 1:]
