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
    raise NotImplementedError


def inverse(order):
    """Return the permutation that undoes `order`, a tuple of ints.

    order: a tuple with each dimension once, none negative. permute(*permute(sizes, strides, order),
    inverse(order)) gives sizes and strides back.
    """
    raise NotImplementedError
