"""Hogwild: processes that train one model at the same time, without a lock.

A process is a generator here: it computes a gradient, says `yield`, and changes the weights when it goes on.
Between the two, other processes may have changed the weights. The tests let the processes take turns:

    process a                     process b
    gradient from the weights
    yield
                                  gradient from the weights: the same ones
                                  yield
    weights -= lr * gradient
                                  weights -= lr * gradient: of weights that have moved on meanwhile

The model is a line: it predicts sum(w * x). The loss of one example (x, y) is (prediction - y) ** 2.
`weights` is a list that all processes share: what one of them writes into it, the others see.
"""


def gradient(weights, x, y):
    """Return the gradient of one example's loss, a list with a number per weight."""
    raise NotImplementedError


def sgd_process(weights, examples, lr):
    """A generator that trains with plain SGD: for each example a gradient, one `yield`, and the update.

    weights: the shared list, changed in place. examples: a list of (x, y); x is a list of numbers. The update
    is added to what the weights are by then.
    """
    raise NotImplementedError


def adam_process(weights, state, examples, lr, betas=(0.9, 0.999), eps=1e-8):
    """The same with Adam, whose state is shared, too.

    state: {"step": 0, "m": [0.0, ...], "v": [0.0, ...]}, one dict for all processes. After the `yield`, with
    gradient g:

        step += 1
        m = b1 * m + (1 - b1) * g            v = b2 * v + (1 - b2) * g * g
        weight -= lr * (m / (1 - b1 ** step)) / (sqrt(v / (1 - b2 ** step)) + eps)

    The averages have seen the gradients of all processes, and `step` says how many that were.
    """
    raise NotImplementedError
