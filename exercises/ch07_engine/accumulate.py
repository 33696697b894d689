"""AccumulateGrad: how a gradient gets into .grad.

Every leaf that requires grad has an AccumulateGrad node at the end of the graph. When a gradient reaches
it, .grad is filled, or added to. *How* matters, because somebody may hold the old .grad, or the incoming
gradient:

- an undefined gradient (None) changes nothing;
- no .grad yet: it becomes a copy. Whoever holds the incoming array may write into it later;
- there is one: the new gradient is added *in place*, so .grad stays the same array, which an optimizer may
  hold;
- with create_graph=True the old .grad may be part of a graph, so it must not change: .grad becomes a new
  array.
"""

import numpy as np


def accumulate_grad(variable, new_grad, create_graph=False):
    """Add a gradient to variable.grad. Returns nothing.

    variable: an object with .data (NumPy array) and .grad (NumPy array or None). new_grad: NumPy array of
    the same shape, or None. create_graph: whether the backward itself is being recorded. A first .grad has
    the strides of variable.data (np.empty_like gives such an array), whatever strides new_grad has.
    """
    raise NotImplementedError
