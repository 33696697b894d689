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
    raise NotImplementedError


def dim_at_fault(a, b):
    """Return the dimension at which `a` and `b` do not fit, counted from the end (-1 is the last), or None.

    a, b: tuples of ints. If there are several, the last one: the rule begins at the right.
    """
    raise NotImplementedError


def stretched_dims(shape, result):
    """Return the dimensions of `result` along which an operand is stretched, ascending, as a tuple.

    shape: of the operand, a tuple of ints that broadcasts to `result`. Along these dimensions the operand has
    stride 0, and its gradient is the sum of the result's. Where the result has size 1, nothing is stretched.
    """
    raise NotImplementedError
