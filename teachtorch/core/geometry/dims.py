"""Views with the dimensions in another order, with more of them, or with fewer."""

import warnings

from .sizes import wrap_dim, wrap_dims


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


# ---- adding, dropping and growing dimensions ----


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
