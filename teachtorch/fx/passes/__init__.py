"""Passes: functions that take a graph and change it, or note something in its nodes.

    shape_prop.py     notes each node's shape and dtype                    a run on example inputs
    cse.py            merges nodes that compute the same
    const_fold.py     computes what depends on no input, once
    split_module.py   cuts a graph into submodules
    infra/            PassBase, PassManager: runs passes in a row and keeps the graphs between them
    effects.py        what they ask: which nodes are random, change memory, share memory

Dead code is `Graph.eliminate_dead_code`; folding batch norms into convolutions is
`fx.experimental.optimization`.
"""
from . import const_fold, cse, infra, shape_prop, split_module  # noqa: F401
