"""A fuser of pointwise operators: which of them one loop computes, and the text of that loop.

A graph is a list of nodes (name, op, operands) in an order in which they can run:

    [("a", "input", ()), ("b", "mul", ("a", 2.0)), ("c", "exp", ("b",)), ("s", "sum", ("c",)), ("d", "div", ("c", "s"))]

`add`, `sub`, `mul`, `div`, `neg` and `exp` are pointwise: operands broadcast. `sum` makes one number of a tensor. Operands
are names or numbers. `shapes` gives the shape of each name: () for one number, (columns,), (rows, 1) or (rows, columns).
"""

POINTWISE = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "neg": "-{}", "exp": "exp({})"}


def fuse(nodes, shapes):
    """The groups, in an order in which they can run: lists of names. Inputs are in no group.

    A sum is complete only when its loop ends, so what needs it comes in a later group. A group is
    - some pointwise nodes of one shape, and at its end
    - the sums of tensors of that shape.
    A node joins the group of its operands if that is the last group, if the shape fits, and if none of its operands is a
    sum of that group; otherwise it begins a new one. (The shape of a sum's loop is that of its operand.)
    """
    raise NotImplementedError


def index(shape, rows_name="i", columns_name="j"):
    """The text behind a tensor's name that picks the element of row i and column j: "[i][j]", "[j]", "[i][0]" or "".

    A dim of size 1 has one element for all.
    """
    raise NotImplementedError


def source(group, nodes, shapes, wanted):
    """The text of `def kernel(env, exp, make):`, which computes a group in one loop over rows and columns.

    `env` maps names to numbers and to nested lists: the kernel reads operands from other groups there, and puts the values
    of this group that are in `wanted` there; `make(shape)` makes the nested lists for them. Each node is computed once for
    each element, into a variable of its own: a value that is needed twice is not computed twice.
    """
    raise NotImplementedError
