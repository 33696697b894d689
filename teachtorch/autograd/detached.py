"""The same memory without the history: what `detach()` returns and what a node saves of its results."""
from ..dispatch.keys import AD_INPLACE_OR_VIEW, AUTOGRAD, PYTHON
from ..dispatch.operator import registry
from ..dispatch.state import excluding
from ..tensor import same_memory


def detached(t):
    """A tensor over the memory of `t` that is no view to autograd.

    A class with `__torch_dispatch__` makes it itself.
    """
    if not t._keys & PYTHON:
        return same_memory(t)
    with excluding(AUTOGRAD | AD_INPLACE_OR_VIEW):
        return registry["alias"](t)
