"""SGD, exactly as PyTorch's.

The order matters. For a gradient g of a parameter p:

    1. maximize turns the sign of g around
    2. weight_decay * p is added to g
    3. with momentum:  the first buffer is a copy of g, without dampening;
                       later buffers are momentum * buffer + (1 - dampening) * g
                       d = g + momentum * buffer with nesterov, else buffer
       without:        d = g
    4. p -= lr * d

The learning rate multiplies the buffer, it is not inside it: changing lr changes the next step at once.
"""


def sgd_step(p, g, buffer, lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
    """Change the array p in place; return the momentum buffer for the next step (None without momentum).

    p, g: float64 arrays of one shape; g must not change. buffer: what the last step returned, None in the
    first.
    """
    # solution
    if maximize:
        g = -g
    if weight_decay:
        g = g + weight_decay * p
    d = g
    if momentum:
        buffer = g.copy() if buffer is None else momentum * buffer + (1 - dampening) * g
        d = g + momentum * buffer if nesterov else buffer
    p -= lr * d
    return buffer
    # end of solution
