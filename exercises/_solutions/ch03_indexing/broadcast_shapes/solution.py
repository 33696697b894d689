"""Broadcasting: which shape has a + b, and what does the backward sum?

Shapes are matched from the right. A dimension that is missing counts as 1, and a 1 is stretched to whatever
the other has. Two sizes that differ, neither of them 1, do not fit.

    (2, 1, 4)
       (3, 1)
    ---------
    (2, 3, 4)
"""


def broadcast_shapes(*shapes):
    """Return the shape to which all `shapes` broadcast, a tuple of ints; () without any.

    shapes: tuples of ints >= 0. Raises RuntimeError when two of them do not fit.
    """
    # solution
    result = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for back in range(1, len(shape) + 1):
            if shape[-back] == 1:
                continue
            if result[-back] not in (1, shape[-back]):
                raise RuntimeError(f"{result[-back]} and {shape[-back]} do not fit at dimension {-back}")
            result[-back] = shape[-back]
    return tuple(result)
    # end of solution


def dim_at_fault(a, b):
    """Return the dimension at which `a` and `b` do not fit, counted from the end (-1 is the last), or None.

    a, b: tuples of ints. If there are several, the last one: the rule begins at the right.
    """
    # solution
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            return -back
    return None
    # end of solution


def stretched_dims(shape, result):
    """Return the dimensions of `result` along which an operand is stretched, ascending, as a tuple.

    shape: of the operand, a tuple of ints that broadcasts to `result`. Along these dimensions the operand has
    stride 0, and its gradient is the sum of the result's. Where the result has size 1, nothing is stretched.
    """
    # solution
    added = len(result) - len(shape)
    own = (1,) * added + tuple(shape)
    return tuple(dim for dim, (mine, size) in enumerate(zip(own, result)) if mine == 1 and size != 1)
    # end of solution
