"""An interpreter: run a graph node by node, note the shapes, and let values go.

The graphs are those of torch.fx: `for node in graph.nodes`, with node.op, node.target, node.args, node.kwargs.
"""
import teachtorch as torch


def values(argument, env):
    """The argument with the value of each node in its place; `env`: {node: value}.

    Arguments are nodes, numbers and the like, and tuples, lists and dicts of them.
    """
    raise NotImplementedError


def call(node, args, kwargs, module):
    """The value of a node that is neither a placeholder nor the output."""
    raise NotImplementedError


def last_users(graph):
    """{node: the nodes whose values nobody needs after it}."""
    raise NotImplementedError


def shape_of(value):
    """A tensor's shape as a tuple of ints; for a tuple or list of values the list of theirs; None for anything else."""
    raise NotImplementedError


def run(module, *inputs):
    """(the output of `module.graph`, {node's name: shape_of its value}, the largest number of values held at once).

    A value is held from when its node has run until its last user has; one that nobody uses, until the end. Count after
    each node, before letting go.
    """
    raise NotImplementedError
