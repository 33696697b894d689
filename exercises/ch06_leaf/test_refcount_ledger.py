"""Grades refcount_ledger.py."""

from exercises.grading import equal, points


def ledger(yours, program, expected, why):
    """Compare the ledger of a program, with the program as text."""
    lines = [f"{number}  {written(statement)}" for number, statement in enumerate(program)]
    equal(yours.freed_at(program), expected, why, what="freed_at of this program", picture="\n".join(lines))


def written(statement):
    """A statement as Python writes it."""
    kind, *names = statement
    if kind == "del":
        return f"del {names[0]}"
    if kind == "backward":
        return f"{names[0]}.backward()"
    return f"{names[0]} = {kind}({', '.join(names[1:])})"


@points(1, "a variable holds its tensor")
def test_variables(yours):
    ledger(yours, [("leaf", "a")], {0: None}, "a holds it until the end")
    ledger(
        yours,
        [("leaf", "a"), ("leaf", "b"), ("del", "a")],
        {0: 2, 1: None},
        "nothing else held the storage of a",
    )
    why = "the name goes over to another tensor, and the first one is held by nothing"
    ledger(yours, [("leaf", "a"), ("leaf", "a")], {0: 1, 1: None}, why)


@points(1, "a view holds the storage of its base")
def test_views(yours):
    program = [("leaf", "a"), ("add", "b", "a", "a"), ("view", "v", "b"), ("del", "b"), ("del", "v")]
    ledger(yours, program, {0: None, 1: 4}, "v looks into the storage of b: it lives as long as v")


@points(1, "a graph holds its leaves")
def test_graph(yours):
    program = [("leaf", "a"), ("add", "b", "a", "a"), ("del", "a"), ("del", "b")]
    why = "b -> AddBackward0 -> AccumulateGrad -> a: the graph of b needs the leaf to put its gradient there"
    ledger(yours, program, {0: 3, 1: 3}, why)


@points(1, "a node holds what it saved")
def test_saved(yours):
    program = [("leaf", "a"), ("exp", "b", "a"), ("add", "c", "b", "b"), ("del", "b"), ("del", "c")]
    why = "exp saved its result: the storage of b lives as long as the graph of c"
    ledger(yours, program, {0: None, 1: 4, 2: 4}, why)


@points(1, "what nobody saved goes at its last reference")
def test_unsaved(yours):
    program = [("leaf", "a"), ("add", "b", "a", "a"), ("add", "c", "b", "b"), ("del", "b"), ("leaf", "d")]
    why = "add saves nothing: the storage of b goes when b does, in the middle of the program"
    ledger(yours, program, {0: None, 1: 3, 2: None, 4: None}, why)


@points(1, "a backward frees what was saved")
def test_backward(yours):
    program = [
        ("leaf", "a"),
        ("exp", "b", "a"),
        ("add", "c", "b", "b"),
        ("del", "b"),
        ("backward", "c"),
        ("del", "c"),
    ]
    why = "the backward runs exp's node, and frees what that one saved"
    ledger(yours, program, {0: None, 1: 4, 2: 5}, why)


@points(1, "a backward leaves the nodes alive")
def test_nodes_stay(yours):
    program = [("leaf", "a"), ("exp", "b", "a"), ("del", "a"), ("backward", "b"), ("del", "b")]
    why = "b still has its grad_fn, which leads to AccumulateGrad, which holds a"
    ledger(yours, program, {0: 4, 1: 4}, why)


@points(1, "both operands of a product")
def test_mul(yours):
    program = [("leaf", "a"), ("add", "b", "a", "a"), ("add", "c", "a", "a"), ("mul", "d", "b", "c")]
    program += [("del", "b"), ("del", "c"), ("backward", "d")]
    ledger(yours, program, {0: None, 1: 6, 2: 6, 3: None}, "mul saved b and c, until its backward has run")


@points(1, "a part of the graph that goes away")
def test_branch(yours):
    program = [("leaf", "a"), ("exp", "b", "a"), ("exp", "c", "b"), ("view", "v", "b")]
    program += [("del", "b"), ("del", "c"), ("del", "v"), ("del", "a")]
    why = "c's node goes with c. v still holds the storage of b; it goes with v, and a with its name"
    ledger(yours, program, {0: 7, 1: 6, 2: 5}, why)
