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
        # solution
        super().__init__(0, 0, bias=False)
        self.out_features = out_features
        self.weight = torch.nn.UninitializedParameter(dtype=dtype)
        if bias:
            self.bias = torch.nn.UninitializedParameter(dtype=dtype)
        # end of solution

    def reset_parameters(self):
        """nn.Linear.__init__ calls this, when there is nothing to fill yet."""

    def forward(self, x):
        """The first call: become a Linear that takes x, and return its output."""
        # solution
        self.in_features = x.shape[-1]
        self.weight.materialize((self.out_features, self.in_features))
        if self.bias is not None:
            self.bias.materialize((self.out_features,))
        bound = 1 / math.sqrt(self.in_features)
        for parameter in self.parameters():
            torch.nn.init.uniform_(parameter, -bound, bound)
        self.__class__ = torch.nn.Linear
        return torch.nn.functional.linear(x, self.weight, self.bias)
        # end of solution
