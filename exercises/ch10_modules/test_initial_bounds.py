"""Grades initial_bounds.py."""

import math

from exercises.grading import close, equal, points, raises


@points(1, "the fans of a matrix")
def test_fans(yours):
    equal(
        yours.fans((3, 5)), (5, 3), "the shape is (outputs, inputs, *kernel): 5 products go into one output"
    )


@points(1, "the fans of a convolution")
def test_fans_of_a_convolution(yours):
    equal(
        yours.fans((8, 2, 3, 3)),
        (18, 72),
        "each input has as many weights as the kernel has places of the kernel: 9",
    )
    equal(yours.fans((4, 6, 5)), (30, 20), "one dimension of space")


@points(1, "a vector has no fans")
def test_vector(yours):
    for shape in ((3,), ()):
        raises(ValueError, yours.fans, shape, why="a bias has neither outputs nor inputs")


@points(1, "gains")
def test_gain(yours):
    for name, expected in (
        ("linear", 1.0),
        ("sigmoid", 1.0),
        ("tanh", 5 / 3),
        ("relu", 2**0.5),
        ("selu", 0.75),
    ):
        close(yours.gain(name), expected, "see the list")
    close(yours.gain("leaky_relu"), math.sqrt(2 / 1.0001), "the slope is 0.01 by default")
    close(yours.gain("leaky_relu", 1.0), 1.0, "a slope of 1 is linear")
    raises(ValueError, yours.gain, "sine", why="not in the list")


@points(1, "Kaiming's standard deviation")
def test_kaiming_std(yours):
    close(yours.kaiming_std((4, 8), nonlinearity="relu"), 0.5, "sqrt(2) / sqrt(8)")
    close(yours.kaiming_std((4, 2, 2, 2)), 0.5, "a slope of 0 is relu; fan_in is 8")


@points(1, "fan_out on demand")
def test_mode(yours):
    close(yours.kaiming_std((2, 8), "fan_out", "linear"), math.sqrt(0.5), "mode fan_out: 1 / sqrt(2)")


@points(1, "Kaiming's bound")
def test_kaiming_bound(yours):
    why = "uniform numbers in [-b, b) have the deviation b / sqrt(3), so b is sqrt(3) times as large"
    close(yours.kaiming_bound((4, 6), nonlinearity="relu"), 1.0, why)


@points(1, "Xavier's bound")
def test_xavier(yours):
    close(yours.xavier_bound((1, 5)), 1.0, "sqrt(3) * sqrt(2 / (fan_in + fan_out))")
    close(yours.xavier_bound((2, 1, 2), 2.0), 2.0, "a gain of 2; the fans are 2 and 4")


@points(1, "how Linear and Conv start")
def test_default(yours):
    for shape in ((3, 16), (8, 1, 4, 4)):
        found = yours.default_bounds(shape)
        equal(len(found), 2, "weight and bias")
        close(found[0], 0.25, "Kaiming with the slope sqrt(5) comes to 1 / sqrt(fan_in)")
        close(found[1], 0.25, "1 / sqrt(fan_in)")


@points(1, "any shape")
def test_any(yours, rng):
    for _ in range(20):
        shape = tuple(rng.randint(1, 6) for _ in range(rng.randint(2, 5)))
        places = math.prod(shape[2:])
        fan_in, fan_out = shape[1] * places, shape[0] * places
        equal(yours.fans(shape), (fan_in, fan_out), "inputs and outputs, times places")
        close(
            yours.kaiming_bound(shape, "fan_out", "tanh"),
            5 / 3 * math.sqrt(3 / fan_out),
            "gain * sqrt(3 / fan_out)",
        )
        close(yours.xavier_bound(shape), math.sqrt(6 / (fan_in + fan_out)), "sqrt(6 / (fan_in + fan_out))")
