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
    raise NotImplementedError
