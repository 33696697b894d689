"""Replaces although the sigmoid is used elsewhere."""

FAILS = "test_used_elsewhere"
SAYS = "computed anyway"
import operator

import teachtorch as torch


def swish(x):
    """The hand-written operator: one call where there were two."""
    return torch.nn.functional.silu(x)


def places(graph):
    """The nodes `x * torch.sigmoid(x)` (or `torch.sigmoid(x) * x`) that can be replaced, in order.

    A `*` is operator.mul. The sigmoid must be used by this product alone: if something else needs it, it has to be computed
    anyway, and the place is left as it is.
    """
    return [node for node in graph.nodes if node.target is operator.mul and parts(node) is not None]


def parts(node):
    """(x, the sigmoid's node) of a product; None if it is another one."""
    for x, gate in (node.args, node.args[::-1]):
        if (isinstance(gate, torch.fx.Node) and gate.target is torch.sigmoid and gate.args[0] is x):
            return x, gate
    return None


def replace(module):
    """Let a GraphModule call `swish` in all places; return how many there were. The module runs the new code afterwards."""
    found = places(module.graph)
    for node in found:
        x, gate = parts(node)
        with module.graph.inserting_before(node):
            new = module.graph.call_function(swish, (x,))
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
        if not gate.users:
            module.graph.erase_node(gate)
    module.graph.lint()
    module.recompile()
    return len(found)


def append(module, function):
    """Let a GraphModule return `function(what it returned)` of its first result-making node: `function` is a new node.

    The output node's one argument is a node. Everyone who used it, the output alone or others too, gets the new one's value;
    the new one itself reads the old one's. The module runs the new code afterwards.
    """
    last = next(node for node in module.graph.nodes if node.op == "output").args[0]
    with module.graph.inserting_after(last):
        new = module.graph.call_function(function, (last,))
    last.replace_all_uses_with(new)
    new.args = (last,)
    module.graph.lint()
    module.recompile()
