"""permute, and the permutation that undoes it.

`t.permute(order)` moves no element: dimension k of the result *is* dimension order[k] of t, with its size
and stride. The backward of permute permutes the gradient back, so autograd needs the inverse permutation.

    sizes (2, 3, 4), strides (12, 4, 1)   permute(2, 0, 1) -> sizes (4, 2, 3), strides (1, 12, 4)
    to undo it: permute(1, 2, 0)
"""


def permute(sizes, strides, order):
    """Return (sizes, strides) of the permuted tensor, two tuples of ints.

    sizes, strides: of the tensor, tuples of ints, in elements. order: a tuple with each dimension once; a
    negative one counts from the end. Raises RuntimeError when a dimension comes twice.
    """
    # solution
    dims = [dim % len(sizes) for dim in order]
    if len(set(dims)) != len(sizes):
        raise RuntimeError(f"permute: {order} does not name each dimension once")
    return tuple(sizes[dim] for dim in dims), tuple(strides[dim] for dim in dims)
    # end of solution


def inverse(order):
    """Return the permutation that undoes `order`, a tuple of ints.

    order: a tuple with each dimension once, none negative. permute(*permute(sizes, strides, order),
    inverse(order)) gives sizes and strides back.
    """
    # solution
    back = [0] * len(order)
    for position, dim in enumerate(order):
        back[dim] = position
    return tuple(back)
    # end of solution
