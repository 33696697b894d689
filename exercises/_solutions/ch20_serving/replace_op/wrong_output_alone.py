"""Lets only the output read the new node."""

import operator

import teachtorch as torch

FAILS = "test_append"
SAYS = "everyone who used the old node"


def swish(x):
    return torch.nn.functional.silu(x)


def places(graph):
    return [node for node in graph.nodes if node.target is operator.mul and parts(node) is not None]


def parts(node):
    for x, gate in (node.args, node.args[::-1]):
        if (isinstance(gate, torch.fx.Node) and gate.target is torch.sigmoid and gate.args[0] is x
                and list(gate.users) == [node]):
            return x, gate
    return None


def replace(module):
    found = places(module.graph)
    for node in found:
        x, gate = parts(node)
        with module.graph.inserting_before(node):
            new = module.graph.call_function(swish, (x,))
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
        module.graph.erase_node(gate)
    module.graph.lint()
    module.recompile()
    return len(found)


def append(module, function):
    last = next(node for node in module.graph.nodes if node.op == "output").args[0]
    with module.graph.inserting_after(last):
        new = module.graph.call_function(function, (last,))
    next(node for node in module.graph.nodes if node.op == "output").args = (new,)
    module.graph.lint()
    module.recompile()
