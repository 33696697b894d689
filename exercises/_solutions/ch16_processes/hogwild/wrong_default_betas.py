"""Adam with numbers of its own."""

FAILS = "test_adam_alone"
SAYS = "those that were given"


def gradient(weights, x, y):
    error = sum(w * each for w, each in zip(weights, x)) - y
    return [2 * error * each for each in x]


def sgd_process(weights, examples, lr):
    for x, y in examples:
        found = gradient(weights, x, y)
        yield
        for i, g in enumerate(found):
            weights[i] -= lr * g


def adam_process(weights, state, examples, lr, betas=(0.9, 0.999), eps=1e-8):
    b1, b2 = 0.9, 0.999
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
