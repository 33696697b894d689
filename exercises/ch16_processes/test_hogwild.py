"""Grades hogwild.py."""

from exercises.grading import close, equal, holds, points

LINE = [([1.0, x / 10], 2.0 + 3.0 * x / 10) for x in range(-10, 11)]  # y = 2 + 3 x


def turns(process):
    """Let a process run to its end; how often it gave the others a turn."""
    return sum(1 for _ in process)


def together(*processes):
    """Let processes take turns until all have ended."""
    running = list(processes)
    while running:
        running = [process for process in running if next(process, "ended") != "ended"]


def slope(weights, x, y, step=1e-5):
    """The slope of the loss in the last weight, by differences."""
    ends = [[*weights[:-1], weights[-1] + side] for side in (-step, step)]
    low, high = ((sum(w * a for w, a in zip(each, x)) - y) ** 2 for each in ends)
    return (high - low) / (2 * step)


def adam(weight, steps, lr, betas=(0.9, 0.999), eps=1e-8):
    """The weight after this many steps of Adam on the loss (weight - 1) ** 2, worked out in one go."""
    m, v, (b1, b2) = 0.0, 0.0, betas
    for step in range(1, steps + 1):
        g = 2 * (weight - 1)
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        weight -= lr * (m / (1 - b1**step)) / ((v / (1 - b2**step)) ** 0.5 + eps)
    return weight


def new_state(count):
    return {"step": 0, "m": [0.0] * count, "v": [0.0] * count}


@points(1, "the gradient of one example")
def test_gradient(yours, rng):
    got = yours.gradient([1.0, 2.0], [3.0, 1.0], 4.0)
    equal(got, [6.0, 2.0], "the prediction is 5, the error 1, and d(error ** 2) / dw is 2 * error * x")
    weights, x, y = ([rng.uniform(-1, 1) for _ in range(3)] for _ in range(3))
    close(yours.gradient(weights, x, y[0])[2], slope(weights, x, y[0]), "the slope between two weights close together",
          what="the gradient for the last of three weights", tolerance=1e-6)


@points(1, "one process alone is plain SGD")
def test_alone(yours):
    weights = [0.0, 0.0]
    turns(yours.sgd_process(weights, [([1.0, 2.0], 1.0), ([0.0, 1.0], 1.0)], 0.1))
    close(
        weights[0],
        0.2,
        why="after the first example the weights are [0.2, 0.4]; the second does not touch w[0]",
    )
    close(weights[1], 0.52, why="after the second: 0.4 + 0.1 * 2 * 0.6")


@points(1, "between gradient and update the others have a turn")
def test_turns(yours):
    weights = [0.0, 0.0]
    process = yours.sgd_process(weights, LINE, 0.1)
    next(process)
    why = "there is a turn for the others between the first gradient and its update: no lock is held over the two"
    equal(weights, [0.0, 0.0], why, what="the weights at the first yield")
    count = 1 + turns(process)
    equal(
        count,
        len(LINE),
        "a turn for the others at each example, or they wait for the whole run",
        what="yields",
    )


@points(1, "the weights are shared")
def test_shared(yours):
    weights = [0.0, 0.0]
    turns(yours.sgd_process(weights, LINE, 0.1))
    holds(
        weights != [0.0, 0.0],
        "what one process writes, the others must see: change the list that you were given",
    )


@points(1, "no update is lost")
def test_nothing_lost(yours):
    weights = [0.0]
    a = yours.sgd_process(weights, [([1.0], 1.0)], 0.1)
    b = yours.sgd_process(weights, [([1.0], 2.0)], 0.1)
    next(a), next(b)
    turns(a)
    turns(b)
    why = "a's update is 0.2, b's is 0.4, both from the weight 0: both updates arrive, whoever is first"
    close(weights[0], 0.6, why=why)


@points(1, "a gradient comes from the weights as they are")
def test_fresh_weights(yours):
    weights = [0.0]
    process = yours.sgd_process(weights, [([1.0], 0.0), ([1.0], 5.0)], 0.1)
    next(process)
    weights[0] = 3.0  # another process
    next(process)
    turns(process)
    why = "another process set the weight to 3; the second gradient is that of the weights as they are now: 2 * (3 - 5)"
    close(weights[0], 3.4, why=why)


@points(1, "two processes learn the line")
def test_learns(yours, rng):
    weights = [0.0, 0.0]
    examples = [rng.sample(LINE, len(LINE)) * 30 for _ in range(2)]
    together(*[yours.sgd_process(weights, each, 0.05) for each in examples])
    close(weights[0], 2.0, why="y = 2 + 3 x")
    close(weights[1], 3.0, why="y = 2 + 3 x")


@points(1, "one process alone is plain Adam")
def test_adam_alone(yours):
    weights, state = [0.0], new_state(1)
    turns(yours.adam_process(weights, state, [([1.0], 1.0)] * 2, 0.1))
    close(state["m"][0], 0.9 * -0.2 + 0.1 * -1.8, why="m = 0.9 * m + 0.1 * g; the gradients are -2 and -1.8")
    close(weights[0], adam(0.0, 2, 0.1), why="the first step is lr; the second a little less")
    weights, state = [0.0, 0.0], new_state(2)
    turns(yours.adam_process(weights, state, [([1.0, 0.0], 1.0)] * 2 + [([0.0, 1.0], 1.0)], 0.1))
    why = "the second weight has averages of its own: its gradients were 0, 0 and -2"
    close(state["v"][1], 0.004, why, what='state["v"][1] of two weights')
    weights = [0.0]
    turns(yours.adam_process(weights, new_state(1), [([1.0], 1.0)] * 3, 0.1, (0.5, 0.9), 0.1))
    close(weights[0], adam(0.0, 3, 0.1, (0.5, 0.9), 0.1), "betas and eps are those that were given",
          what="the weight after three steps with betas=(0.5, 0.9), eps=0.1")


@points(1, "Adam's averages are read after the others had their turn")
def test_adam_turns(yours):
    weights, state = [0.0], new_state(1)
    a, b = (yours.adam_process(weights, state, [([1.0], y)], 0.1) for y in (1.0, 2.0))
    next(a), next(b)
    equal([state["step"], weights[0]], [0, 0.0], "before the yield only the gradient is computed",
          what="step and weight")
    turns(a)
    turns(b)
    why = "b's gradient is -4, and a's -2 has gone into the average meanwhile: 0.9 * (0.1 * -2) + 0.1 * -4"
    close(state["m"][0], 0.9 * -0.2 + 0.1 * -4.0, why, what='state["m"][0] after both')


@points(1, "the number of steps is shared")
def test_adam_step_is_shared(yours):
    weights, state = [0.0], new_state(1)
    for _ in range(3):
        turns(yours.adam_process(weights, state, [([1.0], 1.0)], 0.1))
    why = (
        "the shared averages have seen three gradients: the correction must know how many gradients that were"
    )
    equal(state["step"], 3, why, what='state["step"]')
    close(weights[0], adam(0.0, 3, 0.1), why=why)
