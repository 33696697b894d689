"""Who gets a gradient, and who moves? Predict it without running anything.

A chain of layers, the first one nearest to the input, a loss behind the last one. Each layer is trainable or
frozen (requires_grad_(False)). And the result of one layer may be detached.

- A frozen layer gets no gradient, but it lets gradients through to the layers before it.
- detach() lets nothing through: the layer it stands behind and all before it get nothing.
- A layer's result has a node if it or a layer before it is trainable, with no detach() between.
"""


def gets_gradient(trainable, cut=None):
    """Return a list of bools: which layers find a gradient in their .grad after backward().

    trainable: a list of bools, one for each layer. cut: the number of the layer whose result is detached, or
    None.
    """
    raise NotImplementedError


def has_node(trainable, cut=None):
    """Return a list of bools: which layers' results have a grad_fn (before a detach(), if there is one).

    trainable, cut: as above.
    """
    raise NotImplementedError


def sgd_moves(value, grad, buffer=None, momentum=0.0, weight_decay=0.0):
    """Return a bool: does one step of SGD, with a learning rate above 0, move this parameter?

    value: the parameter, a float. grad: its .grad, a float or None. buffer: its momentum buffer, a float or
    None. SGD skips a parameter whose .grad is None. Else
    d = grad + weight_decay * value; with momentum d becomes momentum * buffer + d (without a buffer it stays
    d). The parameter moves by -lr * d. requires_grad is not asked for.
    """
    raise NotImplementedError
