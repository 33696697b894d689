"""A module's forward as a graph that can be read, changed and written back as Python: torch.fx.

    traced = fx.symbolic_trace(model)       # proxies run through forward and note what happens to them
    print(traced.graph)                     # one node per call
    for node in traced.graph.nodes: ...     # change it
    traced.graph.lint(); traced.recompile()
    print(traced.code)                      # the Python that the graph means

The rooms, in the order data flows: `proxy.py` (what runs through forward; `python_calls.py`: which calls are filled
in), `tracer.py` (runs it), `node.py` and `graph.py` (what is noted), `codegen.py` (back to Python), `graph_module.py`
(a Module that runs it), `interpreter.py` (runs a graph node by node), `subgraph_rewriter.py` and `passes/` (change
it). https://pytorch.org/docs/stable/fx.html; the paper is arXiv:2112.08429.
"""
from . import experimental, immutable_collections, operator_schemas, passes, subgraph_rewriter  # noqa: F401
from .codegen import CodeGen
from .graph import Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy, TraceError
from .subgraph_rewriter import replace_pattern
from .tracer import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap

__all__ = ["CodeGen", "Graph", "GraphModule", "Interpreter", "Node", "PH", "Proxy", "ProxyableClassMeta",
           "TraceError", "Tracer",
           "Transformer", "has_side_effect", "map_arg", "replace_pattern", "symbolic_trace", "wrap"]
