"""A Linear that finds out its number of inputs at the first call.

Before that call weight and bias are uninitialized parameters, `torch.nn.UninitializedParameter(dtype=...)`:
they know their dtype, not their shape. `parameter.materialize(shape)` gives them one, in place: it is the
same object afterwards, an ordinary Parameter, filled with whatever was in the memory.

The first call materializes both, fills them as nn.Linear does, and makes the layer an ordinary nn.Linear:
its class too, so that nothing is left of the lazy one. Objects can change their class: `self.__class__ =
...`.
"""

import math

import teachtorch as torch


class LazyLinear(torch.nn.Linear):
    """A Linear of `out_features` outputs; in_features is 0 until the first call."""

    def __init__(self, out_features, bias=True, dtype=None):
        """bias: whether there is one. dtype: of the parameters; None is the default dtype."""
        raise NotImplementedError

    def reset_parameters(self):
        """nn.Linear.__init__ calls this, when there is nothing to fill yet."""

    def forward(self, x):
        """The first call: become a Linear that takes x, and return its output."""
        raise NotImplementedError
