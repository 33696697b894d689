"""What a node does beside returning a value, as far as its names tell. In doubt, a node counts as doing it."""
import math
import operator

from ...dispatch.operator import registry
from ...overrides import resolve_name
from ..node import nodes_in

RANDOM = frozenset("""
    bernoulli binomial multinomial normal poisson rand rand_like randint randint_like randn randn_like
    randperm empty empty_like empty_strided empty_permuted new_empty new_empty_strided dropout dropout1d
    dropout2d dropout3d alpha_dropout feature_dropout feature_alpha_dropout native_dropout rrelu
    gumbel_softmax fractional_max_pool2d fractional_max_pool3d multi_head_attention_forward
    """.split())                                  # `empty` too: what it holds is not known
# of ops/declare.py: results in memory of their own
FRESH_KINDS = ("pointwise", "operator", "factory")
SHARING_MODULES = ("Identity", "Flatten", "Unflatten", "Dropout")
IN_PLACE = frozenset([getattr(operator, f"i{name}") for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift",
    "rshift")])


def name_of(node):
    """The plain name of a function or method node: "add" of torch.add, operator.add and aten.add.Tensor."""
    if isinstance(node.target, str):
        return node.target
    op = getattr(node.target, "_op", None)
    return op.name.partition(".")[0] if op is not None else getattr(node.target, "__name__", "")


def is_known(node):
    """Whether a node calls something of this library or of Python whose name can be trusted."""
    if node.op == "call_module":
        return type(node._submodule()).__module__.startswith(__name__.partition(".")[0] + ".nn")
    if node.op != "call_function":
        return True
    target = node.target
    home = getattr(target, "__module__", None)
    return (target is getattr or home in ("_operator", "math") or hasattr(target, "_op")
            or resolve_name(target) is not None or target in vars(math).values())


def is_random(node):
    """Whether running a node twice may give two results."""
    if node.op == "call_module":
        return is_random_module(node._submodule())
    if node.op not in ("call_function", "call_method"):
        return False
    drops = node.kwargs.get("dropout_p") or (name_of(node) == "scaled_dot_product_attention"
                                             and len(node.args) > 4)
    return name_of(node).rstrip("_") in RANDOM or bool(drops)


def is_random_module(module):
    name = type(module).__name__
    may_drop = bool(getattr(module, "dropout", 0))              # of recurrent layers and attention
    return module.training and ("Dropout" in name or name == "RReLU"
                                or may_drop) or name.startswith("Fractional")


def changed_nodes(node):
    """The nodes whose memory a node changes: none for most."""
    if node.op == "call_module":
        module = node._submodule()
        return node.all_input_nodes if getattr(module, "inplace", False) else []
    if node.op not in ("call_function", "call_method"):
        return []
    if node.is_impure() or node.target in IN_PLACE:
        return nodes_in(node.args[:1], node.kwargs.get("out"))
    flags = [argument for argument in node.args[1:] if argument is True]
    if flags and f"{name_of(node)}_" in registry:               # relu(x, True)
        return nodes_in(node.args[:1])
    return []


def changes_state(node):
    """Whether a node may change memory that others look at, its own module's included."""
    if node.op == "call_module":
        module = node._submodule()
        keeps = getattr(module, "track_running_stats", False) and module.training
        return not is_known(node) or keeps or bool(changed_nodes(node))
    return not is_known(node) or bool(changed_nodes(node))


def may_share_memory(node):
    """Whether a node's value may look at the memory of its arguments."""
    if node.op == "call_module":
        module = node._submodule()
        shares = type(module).__name__.startswith(SHARING_MODULES)
        return not is_known(node) or shares or bool(changed_nodes(node))
    if node.op not in ("call_function", "call_method") or changed_nodes(node):
        return True
    if getattr(node.target, "__module__", None) in ("_operator",
                                                    "math") and node.target is not operator.getitem:
        return False
    op = registry.get(name_of(node))
    return op is None or getattr(op.info, "kind", None) not in FRESH_KINDS


def nodes_in_changed_memory(graph):
    """The nodes whose value lies, or may lie, in memory that some node of the graph changes.

    Two such values must stay two, even if they are equal when they are made.
    """
    found = set()
    for node in reversed(graph.nodes):
        changed = node.all_input_nodes if changes_state(node) and not is_known(node) else changed_nodes(node)
        found.update(changed)
        if node in found and may_share_memory(node):
            found.update(node.all_input_nodes)
    return found | shared_with(found, graph)


def shared_with(found, graph):
    """The nodes that look at the memory of those in `found`."""
    reached = set(found)
    for node in graph.nodes:
        if may_share_memory(node) and reached & set(node.all_input_nodes):
            reached.add(node)
    return reached
