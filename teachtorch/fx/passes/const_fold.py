"""Constant folding: what depends on no input is computed once, and kept as a buffer."""
from operator import attrgetter

from ...autograd import no_grad
from ...nn import Parameter
from ...tensor import Tensor
from ..graph import has_attribute
from ..interpreter import Interpreter
from ..node import map_arg
from .effects import changes_state, is_known, is_random, nodes_in_changed_memory


def fold_constants(module, parameters=False):
    """Replace each value of a GraphModule that depends on no input by a buffer; returns how many nodes went.

    Args:
        parameters: whether parameters count as constants. Their gradients are lost then.
    """
    graph = module.graph
    before = len(graph.nodes)
    constant = constant_nodes(module, parameters)
    values = values_of(module, constant)
    for node in list(graph.nodes):
        if node in constant and node.op != "get_attr" and any([user not in constant for user in node.users]):
            replace(module, node, values[node])
    graph.eliminate_dead_code()
    module.delete_all_unused_submodules()
    module.recompile()
    return before - len(graph.nodes)


def constant_nodes(module, parameters):
    """The nodes whose value is the same in every run, in order."""
    touched = nodes_in_changed_memory(module.graph)
    found = {}
    for node in module.graph.nodes:
        if node.op == "get_attr":
            is_constant = holds_still(module, node, parameters)
        else:
            is_constant = node.op in ("call_function", "call_method") and is_pure(node)
        if is_constant and node not in touched and all([n in found for n in node.all_input_nodes]):
            found[node] = True
    return found


def holds_still(module, node, parameters):
    """Whether an attribute is a tensor that training does not change."""
    value = attrgetter(node.target)(module)
    return isinstance(value, Tensor) and (parameters or not isinstance(value, Parameter))


def is_pure(node):
    return is_known(node) and not is_random(node) and not changes_state(node)


def values_of(module, nodes):
    """{node: its value}."""
    interpreter = Interpreter(module, garbage_collect_values=False)
    with no_grad():
        for node in nodes:
            interpreter.env[node] = interpreter.run_node(node)
    return interpreter.env


def replace(module, node, value):
    """Let the users of a node take its value: a buffer if it is a tensor, else the value itself."""
    if isinstance(value, Tensor):
        name = free_name(module)
        module.register_buffer(name, value.detach())
        with module.graph.inserting_before(node):
            node.replace_all_uses_with(module.graph.get_attr(name), propagate_meta=True)
        return
    if isinstance(value, (int, float, str, bool, type(None))):
        for user in list(node.users):
            user.args = map_arg(user.args, lambda n: value if n is node else n)
            user.kwargs = map_arg(user.kwargs, lambda n: value if n is node else n)


def free_name(module):
    number = 0
    while has_attribute(module, f"_folded{number}"):
        number += 1
    return f"_folded{number}"
