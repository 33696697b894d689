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
    # solution
    error = sum(w * each for w, each in zip(weights, x)) - y
    return [2 * error * each for each in x]
    # end of solution


def sgd_process(weights, examples, lr):
    """A generator that trains with plain SGD: for each example a gradient, one `yield`, and the update.

    weights: the shared list, changed in place. examples: a list of (x, y); x is a list of numbers. The update
    is added to what the weights are by then.
    """
    # solution
    for x, y in examples:
        found = gradient(weights, x, y)
        yield
        for i, g in enumerate(found):
            weights[i] -= lr * g
    # end of solution


def adam_process(weights, state, examples, lr, betas=(0.9, 0.999), eps=1e-8):
    """The same with Adam, whose state is shared, too.

    state: {"step": 0, "m": [0.0, ...], "v": [0.0, ...]}, one dict for all processes. After the `yield`, with
    gradient g:

        step += 1
        m = b1 * m + (1 - b1) * g            v = b2 * v + (1 - b2) * g * g
        weight -= lr * (m / (1 - b1 ** step)) / (sqrt(v / (1 - b2 ** step)) + eps)

    The averages have seen the gradients of all processes, and `step` says how many that were.
    """
    # solution
    b1, b2 = betas
    m, v = state["m"], state["v"]
    for x, y in examples:
        found = gradient(weights, x, y)
        yield
        state["step"] += 1
        step = state["step"]
        for i, g in enumerate(found):
            m[i] = b1 * m[i] + (1 - b1) * g
            v[i] = b2 * v[i] + (1 - b2) * g * g
            weights[i] -= lr * (m[i] / (1 - b1**step)) / ((v[i] / (1 - b2**step)) ** 0.5 + eps)
    # end of solution
