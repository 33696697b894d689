"""Making a model that only evaluates smaller: batch norms folded into convolutions, dropouts taken out."""
import copy

from ...nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, Conv3d, Dropout, Module
from ...nn.utils.fusion import fuse_conv_bn_eval
from ..graph_module import GraphModule
from ..tracer import symbolic_trace

PATTERNS = ((Conv1d, BatchNorm1d), (Conv2d, BatchNorm2d), (Conv3d, BatchNorm3d))


def matches_module_pattern(pattern, node, modules):
    """Whether a node calls a module of class `pattern[1]` on the value of a module of class `pattern[0]`."""
    if not node.args or not hasattr(node.args[0], "op"):
        return False
    return all([n.op == "call_module" and type(modules.get(n.target)) is kind
                for kind, n in zip(pattern, (node.args[0], node))])


def replace_node_module(node, modules, new_module):
    """Put another module at the name that a node calls."""
    owner, _, name = node.target.rpartition(".")
    modules[node.target] = new_module
    setattr(modules[owner], name, new_module)


def fuse(model, inplace=False, no_trace=False):
    """A GraphModule in which each batch norm that follows a convolution is part of its weights.

    A convolution whose value is used elsewhere too stays as it is, and so does a batch norm without running
    statistics.

    Args:
        model: a Module in eval mode.
        inplace: whether `model`'s own layers are changed; else they are copied.
        no_trace: whether `model` is a GraphModule that need not be traced.

    AssertionError if a pair is in training mode. torch.fx.experimental.optimization.fuse.
    """
    model = model if inplace else copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    graph = copy.deepcopy(traced.graph)
    for pattern in PATTERNS:
        fuse_pattern(pattern, graph, dict(traced.named_modules()))
    return GraphModule(traced, graph)


def fuse_pattern(pattern, graph, modules):
    for node in graph.nodes:
        if not matches_module_pattern(pattern, node, modules) or len(node.args[0].users) > 1:
            continue
        conv, bn = modules[node.args[0].target], modules[node.target]
        if not bn.track_running_stats:
            continue
        replace_node_module(node.args[0], modules, fuse_conv_bn_eval(conv, bn))
        node.replace_all_uses_with(node.args[0])
        graph.erase_node(node)


def remove_dropout(model):
    """A GraphModule without the Dropout layers, which do nothing when a model evaluates."""
    traced = symbolic_trace(model)
    modules = dict(traced.named_modules())
    for node in traced.graph.nodes:
        if node.op == "call_module" and isinstance(modules[node.target], Dropout):
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    return GraphModule(traced, traced.graph)


def extract_subgraph(orig_module, nodes, inputs, outputs):
    """A GraphModule of some nodes: `inputs` become its placeholders, `outputs` what it returns."""
    from ..graph import Graph

    graph, env = Graph(), {}
    for node in inputs:
        env[node] = graph.placeholder(node.name)
    for node in nodes:
        env[node] = graph.node_copy(node, env.__getitem__)
    graph.output([env[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module if isinstance(orig_module, Module) else Module(), graph)
