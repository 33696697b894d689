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
    # solution
    ops = {name: op for name, op, _ in nodes}
    groups, loop = [], None
    for name, op, operands in nodes:
        if op == "input":
            continue
        shape = shapes[operands[0]] if op == "sum" else shapes[name]
        last = groups[-1] if groups else []
        waits = any(o in last and ops[o] == "sum" for o in operands)
        reads = any(o in last for o in operands)
        if not reads or waits or shape != loop:
            groups.append([])
            loop = shape
        groups[-1].append(name)
    return groups
    # end of solution


def index(shape, rows_name="i", columns_name="j"):
    """The text behind a tensor's name that picks the element of row i and column j: "[i][j]", "[j]", "[i][0]" or "".

    A dim of size 1 has one element for all.
    """
    # solution
    names = [columns_name] if len(shape) == 1 else [rows_name, columns_name]
    return "".join([f"[{0 if size == 1 else name}]" for size, name in zip(shape, names[-len(shape):] if shape else [])])
    # end of solution


def source(group, nodes, shapes, wanted):
    """The text of `def kernel(env, exp, make):`, which computes a group in one loop over rows and columns.

    `env` maps names to numbers and to nested lists: the kernel reads operands from other groups there, and puts the values
    of this group that are in `wanted` there; `make(shape)` makes the nested lists for them. Each node is computed once for
    each element, into a variable of its own: a value that is needed twice is not computed twice.
    """
    # solution
    known = {name: (op, operands) for name, op, operands in nodes}
    first = known[group[0]]
    shape = shapes[first[1][0]] if first[0] == "sum" else shapes[group[0]]
    rows, columns = (1,) * (2 - len(shape)) + tuple(shape)
    outside = dict.fromkeys(o for n in group for o in known[n][1] if isinstance(o, str) and o not in group)
    lines = ["def kernel(env, exp, make):", *[f"    {o}_ = env['{o}']" for o in outside]]
    lines += [f"    out_{n} = env['{n}'] = make({tuple(shapes[n])})" for n in group if n in wanted and shapes[n]]
    lines += [f"    {n} = 0.0" for n in group if known[n][0] == "sum"]
    lines += [f"    for i in range({rows}):", f"        for j in range({columns}):"]
    body = []
    for o in outside:
        body.append(f"{o} = {o}_{index(shapes[o])}")
    for n in group:
        op, operands = known[n]
        if op == "sum":
            body.append(f"{n} += {operands[0]}")
            continue
        body.append(f"{n} = {POINTWISE[op].format(*operands)}")
        if n in wanted:
            body.append(f"out_{n}{index(shapes[n])} = {n}" if shapes[n] else f"env['{n}'] = {n}")
    lines += [f"            {line}" for line in body]
    lines += [f"    env['{n}'] = {n}" for n in group if known[n][0] == "sum" and n in wanted]
    return "\n".join(lines) + "\n"
    # end of solution
