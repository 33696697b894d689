"""Looks at variables only."""

FAILS = "test_graph"
SAYS = "needs the leaf"


class Node:
    def __init__(self, saved=(), nexts=(), leaf=None):
        self.saved, self.nexts, self.leaf = list(saved), list(nexts), leaf


class Tensor:
    def __init__(self, storage, node):
        self.storage, self.node = storage, node


def freed_at(program):
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
    return held
