"""Turns the operands of a difference round."""

FAILS = "test_any"
SAYS = "computed with arrays"


POINTWISE = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "neg": "-{}", "exp": "exp({})"}


def fuse(nodes, shapes):
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


def index(shape, rows_name="i", columns_name="j"):
    names = [columns_name] if len(shape) == 1 else [rows_name, columns_name]
    return "".join([f"[{0 if size == 1 else name}]" for size, name in zip(shape, names[-len(shape):] if shape else [])])


def source(group, nodes, shapes, wanted):
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
        body.append(f"{n} = {POINTWISE[op].format(*(operands[::-1] if op == 'sub' else operands))}")
        if n in wanted:
            body.append(f"out_{n}{index(shapes[n])} = {n}" if shapes[n] else f"env['{n}'] = {n}")
    lines += [f"            {line}" for line in body]
    lines += [f"    env['{n}'] = {n}" for n in group if known[n][0] == "sum" and n in wanted]
    return "\n".join(lines) + "\n"
