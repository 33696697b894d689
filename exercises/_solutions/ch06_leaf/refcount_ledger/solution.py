"""A ledger of references: when is memory freed?

Memory (a storage) is freed the moment nothing holds it any more. What holds what:

    a variable of the program   its tensor
    a tensor                    its storage; its node, if an operation made it
    a node                      the nodes its edges lead to; until its backward has run, what it saved
    AccumulateGrad              the leaf it belongs to, and so the leaf's storage

A program is a list of statements; v is the variable that is set, x and y are variables that exist:

    ("leaf", v)        a new leaf that requires a gradient, with its own storage
    ("view", v, x)     a view: x's storage; its node saves nothing
    ("exp", v, x)      a new storage; its node saves the result's storage
    ("add", v, x, y)   a new storage; its node saves nothing
    ("mul", v, x, y)   a new storage; its node saves the storages of x and y
    ("del", v)         the variable goes away
    ("backward", x)    runs each node of x's graph, which frees what they saved. The nodes themselves stay.
"""


class Node:
    """A node. saved: storages; nexts: the nodes its edges lead to; leaf: the storage AccumulateGrad holds."""

    def __init__(self, saved=(), nexts=(), leaf=None):
        self.saved, self.nexts, self.leaf = list(saved), list(nexts), leaf


class Tensor:
    """A tensor. storage: the number of the statement that made it; node: grad_fn or AccumulateGrad."""

    def __init__(self, storage, node):
        self.storage, self.node = storage, node


def freed_at(program):
    """Return a dict with an entry for each statement that makes a storage: its number -> when it is freed.

    program: as above, statements numbered from 0. The value is the number of the statement after which
    nothing holds the storage any more, or None if something still does at the end of the program.
    """
    # solution
    variables, freed = {}, {}
    for number, statement in enumerate(program):
        _run(number, statement, variables)
        if statement[0] not in ("view", "del", "backward"):
            freed[number] = None
        held = _held(variables.values())
        for storage, when in freed.items():
            if when is None and storage not in held:
                freed[storage] = number
    return freed
    # end of solution


# solution
def _run(number, statement, variables):
    kind, target, *names = statement
    operands = [variables[name] for name in names]
    if kind == "del":
        del variables[target]
    elif kind == "backward":
        for node in _nodes([variables[target]]):
            node.saved = []
    elif kind == "leaf":
        variables[target] = Tensor(number, Node(leaf=number))
    else:
        storage = operands[0].storage if kind == "view" else number
        saved = {"exp": [number], "mul": [each.storage for each in operands]}.get(kind, [])
        variables[target] = Tensor(storage, Node(saved, [each.node for each in operands]))


def _nodes(tensors):
    found = [tensor.node for tensor in tensors]
    for node in found:
        found += [each for each in node.nexts if each not in found]
    return found


def _held(tensors):
    tensors = list(tensors)
    held = {tensor.storage for tensor in tensors}
    for node in _nodes(tensors):
        held.update(node.saved, [] if node.leaf is None else [node.leaf])
    return held


# end of solution
