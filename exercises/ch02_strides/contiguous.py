"""When is a tensor contiguous?

A tensor is contiguous when walking over its elements in reading order (the last index moves fastest) meets
the slots of the storage one after another. It can be told from sizes and strides alone, without looking at
a single element.

    sizes (2, 3), strides (3, 1)   contiguous: slots 0 1 2 3 4 5
    sizes (2, 3), strides (1, 2)   not: slots 0 2 4 1 3 5 (a transposed tensor)
"""


def is_contiguous(sizes, strides):
    """Return True when a tensor of these sizes and strides is contiguous, else False.

    sizes, strides: tuples of ints of the same length, in elements. Two cases are easy to get wrong: the
    stride of a dimension of size 1 is never used, so it may be anything; and a tensor without elements is
    contiguous.
    """
    raise NotImplementedError
